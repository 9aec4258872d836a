"""Words of every day: said in any text, and so the name of nothing in particular.

Stop words (`stopwords`) say nothing about a question; these say something, yet nobody would file a
note under them: `usually`, `thing`, `decided`. A word counts in all its forms.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agent_memfas.text.days import MONTHS
from agent_memfas.text.stems import stem
from agent_memfas.text.stopwords import is_stop_word

_VERBS = """
accept achieve act add agree aim allow answer appear apply appreciate approach arrive ask assume
attend avoid begin believe belong bet blow break bring build bump buy call care carry catch cause
change chat check choose clarify clean clear click close collect compare complete confirm connect
consider contain continue copy cost count cover create cut deal decide define delete depend describe
deserve determine develop discover discuss do drink drive drop eat enable encourage end enjoy ensure
enter establish evaluate exist expect experience explain explore express extend face fail fall fetch
fight fill find finish fit fix focus follow forget grab grow guess handle hang happen hate have head
hear help hide hit hold hope identify imagine implement improve include increase indicate inspire
install involve join jump kill laugh launch lead learn leave lend lie like limit listen live look
lose love manage matter mean meet mention mind miss motivate move need note notice offer open ought
own pass pay pick place plan play point practice prefer prepare prevent proceed prove provide
publish pull push put raise reach read realize receive recommend record reduce refer reflect relate
relax release remain remember remind remove rename repeat replace reply report represent require
resolve return review rise run save seek sell send serve set settle share shoot show shut sit skip
sleep solve sound speak spend split spot stand stare start stay step stick stop struggle study
succeed suggest support suppose surprise switch talk taste teach tell tend thank throw tie touch
track treat try turn understand update upgrade use visit wait wake walk wanna gonna gotta warn wash
waste watch wear win wish wonder work worry write wrap yell post lay
"""
_QUALITIES = """
able absolute actual ahead alone along already also although always amazing amaze ancient angry
another anxious anyway apart around available average awake aware away awesome awful bad basic
basically beautiful better best big bit black blue boring brave brief bright broken brown busy calm
can cheap classic clear clearly close cold comfortable common completely complex confident constant
cool correct couple crazy creative critical cruel curious current currently cute daily damn dark
dear deep definitely delicious difficult direct dirty early easier easily easy effective efficient
empty enough entire equal especially essential even eventually exact exactly excellent excited
exciting exhausted expensive extra fabulous fair familiar fantastic far fast fine firm flat forward
free frequent fresh friendly full fully fun funny further future general generally gentle glad good
gorgeous grateful gray great green grey guilty handy happy hard harder hardly healthy heavy helpful
high honest honestly hot huge hungry ideal immediate immediately important impossible impressive
incredible indeed independent individual initial instead interesting internal just keen key kind
lack large late lately later latest least left less light likely literally little local long loud
lovely low lucky main major maybe mean meaningful mere minor mixed modern more moreover most mostly
much multiple mutual natural nearby nearly neat necessary negative nervous never nevertheless new
nice noisy normal normally nowadays numerous obvious obviously odd offline often ok okay old once
online only ordinary original other otherwise outside overall passionate past peaceful perfect
perfectly perhaps personal plain pleasant plenty polite poor popular positive possible potential
powerful precious precise present pretty previous primary prior probably proper proud public pure
quick quickly quiet quite random rare rarely rather ready real realistic really recent recently red
regular related relevant reliable rich ridiculous right rough round sad safe same satisfied scared
secret secure separate serious seriously severe sharp short shy sick significant silly similar
simple simply since single slight slow slowly small smart smooth social soft sole solid somehow
sometimes somewhat soon sore sorry special specific specifically spare stable steady still straight
strange strict strong stuff stupid successful such sudden suddenly sufficient suitable super
supposed sure surely surprised sweet tall temporary terrible thankful therefore thick thin thorough
though thoughtful thrilled through tight tiny tired together tonight too total totally tough tricky
true truly twice typical ugly ultimate unable unbelievable unfortunately unique unless unlike
unlikely until upcoming upset urgent useful useless usual usually valid valuable vary vast via vital
warm weak weird welcome well wet whatever whenever whether white whole wide wild willing wise within
wonderful worse worst worth worthwhile wow wrong yellow yet young rewarding fulfilling stunning
adorable crucial chill yummy stoked favorite favourite due festive additional unexpected active
frustrating supportive intense alive custom responsive max min
"""
_THINGS = """
ability action activity addition adult advantage advice affair age aid amount angle anybody anyone
anything area art aspect assistant atmosphere attention attitude back background balance base basis
bed beginning behavior belief benefit body bottom boy bunch case category center challenge chance
choice circumstance class combination comment concern condition conversation corner course decision
degree demand detail difference difficulty direction edge effect effort element event everybody
everyone everything evidence example exception excitement eye fact factor failure fan feature
feedback feeling fellow figure file folder folk form friend front function gift girl goal group
growth guidance guy habit hand hat hint history hobby home house human idea image impact importance
impression info information input interest issue item job journey joy key kid kind kit knowledge
label lady lane length lesson letter level life line list log lot luck man manner material message
method middle mistake mood motivation name nature news noise nothing notification number object
occasion opinion opportunity option order output page pair paper part participant party path
patience patient pattern people percent performance period person perspective phrase picture piece
pleasure position possibility power pressure principle problem process product progress project
proof purpose quality question range rate reader reason rest result risk room row rule sake sample
scene schedule section sense sentence series setting shape side sign situation size skill solution
somebody someone something somewhere source space stage standard state statement stress structure
style subject success sum summary table task team term text thing thought title tone tool top topic
total trouble truth turn type user value variety version vibe view voice way woman word world zone
end date note release blast pile cup time photo session improvement implementation
"""
_SAID = """
aha ah amen argh aww bye cheers congrats congratulations dude eh everyday ew haha hahaha heh hmm huh
lol lmao nah nope oh omg oops ouch phew sir ugh uh um umm whoa wow ya yay yeah yep yes yup anyways
btw cuz etc fyi imho imo kinda lots sorta tbd tbh tho todo fixme wip asap aka eta faq i'm i me my
mine myself yourself himself herself itself ourselves themselves us am pm ad bc vs ok no na id ie eg
ii iii iv vi vii viii ix above accord across against among amid below beneath beside besides beyond
despite during except inside like near outside past per plus regarding throughout toward towards
underneath upon versus approx dept est incl misc nr num ref resp accordingly additionally afterwards
altogether anymore anywhere consequently conversely everytime finally firstly furthermore hence
hopefully however inc interestingly lastly luckily meanwhile namely nonetheless originally
particularly possibly previously presumably relatively respectively sadly secondly similarly
subsequently thereby thus unfortunately whereas whereby zero three four five six seven eight nine
ten eleven twelve hundred thousand several various many different own other others certain half last
next first second third one two both each either else every everywhere ago again none nobody self
behind million ooh woohoo gotcha anytime hooray hello thx pls plz sec pic pics fam day days week
month year hour minute moment morning afternoon evening night today tomorrow yesterday tonight
weekend decade http https www com org html md txt png jpg jpeg pdf readme uncategorized ttl untitled
null undefined false whose i'd come go get make take say know think see want seem feel keep let give
become hey hi hiya die kb mb gb tb kib mib gib ms khz mhz ghz px km cm mm kg usd eur mins hrs secs
"""
# Grammar of the languages next to English, as far as it is no English word (`war`, `on`, `son`).
_ELSEWHERE = """
der das den dem ein eine einen einem einer und oder nicht ist sind wird werden wurde haben habe kann
muss mit auf von zum zur ich wir sie mich mir uns auch aber wenn dass noch nur nach bei aus wie sich
als durch sehr mehr schon dann wieder heute morgen gestern dieser diese dieses
les une des est sont avec dans par pour pas que qui nous vous elle cette ces mais plus tout fait
aux ont peut comme sur sans leur
los las una uno pero con para por esta este como muy sobre hay ser estar todo cuando porque
nao uma com mas foi ele ela isso mais tem pelo pela
gli che non per sono della delle degli nel nella alla dal questo questa anche
het een niet met voor zijn naar ook maar wordt heeft bij deze wij
это как что для или при был была было если так уже еще мы вы они она его есть нет
"""
_LABELS = """
agenda assigned attendee attachment author blocked blocker blocking caution conclusion context
contact deadline deferred doing done draft due dated entry fixed followup follow-up highlight intro
introduction learned learning metadata minutes motto notes owner outcome overview pending preface
priority pros cons reminder remarks requirements scope status takeaway todos tip tldr topics
triggered warning wins wishlist workaround worklog explanation bug
"""
_ORDERS = """
adapt adjust align allocate analyze apply archive assess assign audit automate avoid backup batch
benchmark boost bundle cache calculate cancel capture categorize centralize clone combine commit
communicate compile compress compute conduct configure consolidate consult contribute convert
coordinate customize debug decrease declare delegate demonstrate deploy design detect disable
display distribute document double download duplicate edit elaborate eliminate embed enforce engage
enhance escalate estimate examine exclude execute expand experiment export extract filter finalize
foster gather generate grant group implement import incorporate increment index inform initialize
initiate inject insert inspect install integrate introduce invest investigate invite iterate launch
leverage link load locate lock log maintain map mark master measure merge migrate minify minimize
mock modify monitor mount navigate negotiate notify observe obtain optimize organize outline
override pause perform populate port post prioritize process promote proofread protect query rebuild
redirect refactor refine refresh register reinforce render replicate rerun research reset resize
respond restart restore restructure retain retrieve retry reuse rewrite roll rotate sanitize scale
scan schedule search secure select separate serialize simplify simulate solicit specify stage
standardize store streamline strengthen structure style submit summarize supply swap sync tackle
tailor tag target test throttle toggle trace transfer transform transition translate trigger
troubleshoot tune uninstall unlock upload utilize validate verify view visualize volunteer weigh
"""
_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays mon tue tues wed weds thu thur thurs fri sat sun
    jan feb mar apr jun jul aug sep sept oct nov dec utc gmt est edt cst cdt mst pst pdt cet cest
    bst ist jst kst
    """.split()
) | frozenset(MONTHS)
_VERB_WORDS = frozenset(_VERBS.split())
_QUALITY_WORDS = frozenset(_QUALITIES.split())
_THING_WORDS = frozenset(f"{_THINGS} {_LABELS}".split())
_SAID_WORDS = frozenset(f"{_SAID} {_ELSEWHERE}".split())
_WORDS = _VERB_WORDS | _QUALITY_WORDS | _THING_WORDS | _SAID_WORDS
_STEMS = frozenset(stem(word) for word in _WORDS if word.isalpha())
_ORDER_STEMS = frozenset(stem(word) for word in _ORDERS.split())
# Made from words of every day, and yet the names of things.
_OWN = frozenset("meeting building training recording setting staging".split())
_NOUN = re.compile(".*(?:er|or|ment|ion|ance|ence|ness|ity|ism|al|ive|able|ure|age)s?")
_ADVERB = re.compile("(?!supply|family|assembly|anomaly|monopoly|butterfly).{4,}ly")
# What never occurs in lower case may be a name, unless it is formed like one of these.
_ENDINGS = tuple(
    """
    ing ed ly tion sion ment ness ance ence ity ism ship able ible ful less ous ive
    """.split()
)


@lru_cache(maxsize=1 << 14)
def is_grammar(word: str) -> bool:
    """Whether a word is in no name and no phrase: stop words, pronouns, days, `hello`, `both`."""
    folded = word.casefold()
    if folded in _SAID_WORDS or folded in _CALENDAR or is_stop_word(folded):
        return True
    return folded.endswith(("'m", "'d", "'re", "'ve", "'ll", "n't"))


@lru_cache(maxsize=1 << 14)
def is_everyday(word: str) -> bool:
    """Whether a word is said everywhere, in this form or another; all grammar and adverbs too."""
    folded = word.casefold()
    if folded in _WORDS or is_grammar(folded):
        return True
    if not folded.isalpha() or folded in _OWN or (len(folded) < 4 and folded[-1] == "s"):
        return False
    if _ADVERB.fullmatch(folded):
        return True
    if folded[-1] == "s" and folded[:-1] in _WORDS:
        return True
    return stem(folded) in _STEMS and not _NOUN.fullmatch(folded)


@lru_cache(maxsize=1 << 14)
def is_order(word: str) -> bool:
    """Whether a note may begin with it to say what is to be done: `Migrate`, `Refactor`."""
    return stem(word.casefold()) in _ORDER_STEMS


def looks_derived(word: str) -> bool:
    """Whether a word ends as English words do that are made from others: `Migrated`, `Testing`."""
    return len(word) > 4 and word.casefold().endswith(_ENDINGS)


def is_thing(word: str) -> bool:
    """Whether an everyday word names a thing, however vague: it may end a phrase."""
    folded = word.casefold()
    return folded in _THING_WORDS or (folded[-1:] == "s" and folded[:-1] in _THING_WORDS)


@lru_cache(maxsize=1 << 14)
def needed_cohesion(word: str, *, last: bool) -> float:
    """How strongly an everyday word must stick to its neighbours to make a phrase with them.

    The least normalised mutual information; 2.0 where it never can: `error handling` and `status
    page` are phrases, `highly recommend` and `bookcase filled` are none.
    """
    folded = word.casefold()
    if not is_everyday(folded):
        return 0.0
    if is_thing(folded):
        return 0.5
    if last:
        acts = folded in _VERB_WORDS or (folded.endswith("ing") and len(folded) > 5)
        return 0.6 if acts else 2.0
    return 0.8 if folded in _QUALITY_WORDS or folded in _VERB_WORDS else 2.0
