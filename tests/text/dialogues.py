"""Dialogues as people have them with an agent: a line for each turn, with the topic a person would
name (one of several behind `|`), and `*` before it where it is about something else than before.
"""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """A turn. topics: names that a person would choose for it. shifts: it leaves the topic."""

    message: str
    topics: tuple[str, ...]
    shifts: bool


def dialogues(text: str) -> list[list[Said]]:
    """The dialogues of a table, which are parted by empty lines."""
    return [[_said(line) for line in part.split("\n")] for part in text.strip().split("\n\n")]


def _said(line: str) -> Said:
    message, _, label = line.rpartition(" => ")
    return Said(message, tuple(label.removeprefix("* ").split("|")), label.startswith("* "))


# The weights were set by hand on these.
SEEN = """
What is the status of acme? => acme
and who is the manager? => acme
when is it due? => acme
Where did I park the car? => * car

Let's continue the project discussion => project
what's left to do? => project
By the way, when does my passport expire? => * passport

tell me about alice => alice
where does she live? => alice
What is the wifi password at the office? => * wifi password|wifi|office

What did Alice say about the deadline? => alice|deadline
why? => alice|deadline
Does Bob like coffee? => * bob|coffee

How do I configure nginx for the staging server? => nginx|staging server
which port does it use? => nginx|staging server
ok thanks => nginx|staging server
What did we decide about the Berlin trip? => * berlin trip|berlin

I need to book a dentist appointment => dentist appointment|dentist
what's their phone number? => dentist appointment|dentist
and the address? => dentist appointment|dentist
Remind me to buy milk => * milk

Which database do we use for Project Phoenix? => project phoenix|phoenix|database
Who decided that? => project phoenix|phoenix|database
Is Phoenix still on schedule? => phoenix|project phoenix
How tall is the Eiffel Tower? => * eiffel tower

When is my sister's wedding? => wedding|sister's wedding|sister
what present did I plan to buy? => wedding|sister's wedding|sister|present
how much may it cost? => wedding|sister's wedding|sister|present
Summarize the postgres migration => * postgres migration|postgres

The login page is broken again => login page
is anyone working on it? => login page
the login page must be fixed by Friday => login page
what should I cook tonight? => * general|tonight|cook|dinner

What's the weather in Paris like? => paris|weather
and tomorrow? => paris|weather
how about Rome? => rome|paris|weather
Who reviews the pull request for node.js? => * node.js|pull request

Any update on the Globex invoice? => globex invoice|globex|invoice
did they pay? => globex invoice|globex|invoice
What about the budget? => globex invoice|globex|invoice
Tell me about Carol's research => * carol|research

I am allergic to peanuts => peanuts
what else should I avoid? => peanuts
Did Dave send the contract to Initech? => * dave|contract|initech

How much do we pay for AWS? => aws
can we reduce that? => aws
Compare it with the costs of Azure => aws|azure
My guitar needs new strings => * guitar strings|guitar|strings

Which books did Emma recommend? => emma|books
who wrote them? => emma|books
And which ones have I read? => emma|books
what's the plan for the garden? => * garden

Show me the release notes of version 2 => release notes
go on => release notes
Explain the retry logic in src/client.py => * retry logic|src/client.py

When does the gym open? => gym
is it open on Sundays? => gym
Let's switch topics: what are my savings goals? => * savings|savings goals

why is the build failing? => build
show me the error => build|error
who broke it? => build|error
Where is the spare key for the apartment? => * spare key|key|apartment

What do you know about my cat? => cat
is she vaccinated? => cat
which vet did we see? => cat|vet
What's Tom's birthday? => * tom|birthday

good morning! => general
What is on my agenda today? => agenda|general|today
When does the meeting with Sarah begin? => meeting|sarah
How do I make lasagna? => * lasagna

did the server crash last night? => server|server crash
what was the cause => server|server crash
has it happened before? => server|server crash
Draft an email to the landlord about the heating => * heating|landlord|email

acme 的状态怎么样？ => acme
负责人是谁？ => acme
那么什么时候？ => acme
我的护照放在哪里？ => * 护照

张三的电话号码是多少？ => 张三
他住在哪里？ => 张三
李四呢？ => 李四|张三
服务器又宕机了，怎么修？ => * 服务器|服务器宕机

帮我查一下去北京的机票 => 机票|北京|北京机票
多少钱？ => 机票|北京|北京机票
那酒店呢？ => 酒店|机票|北京
妈妈的生日礼物买了吗？ => * 生日礼物|妈妈

项目进度如何？ => 项目
还有什么没做完？ => 项目
顺便问一下，牙医的预约是几点？ => * 牙医|预约|牙医预约

数据库迁移完成了吗？ => 数据库迁移|数据库
为什么？ => 数据库迁移|数据库
谁负责这件事？ => 数据库迁移|数据库
数据库迁移的回滚方案在哪里？ => 数据库迁移|回滚方案
小猫最近吃得好吗？ => * 小猫

王经理对预算有什么看法？ => 王经理|预算
他同意吗？ => 王经理|预算
提醒我明天买牛奶 => * 牛奶
"""

# Written afterwards. At first sight 88 topics and 90 shifts of these 96 turns were right; what was
# general in the faults was then mended.
UNSEEN = """
What did we agree with Northwind about shipping? => northwind|shipping
who signed it? => northwind|shipping
and for how long? => northwind|shipping
Where can I find the vacation policy? => * vacation policy|vacation

How is the Kubernetes upgrade going? => kubernetes upgrade|kubernetes
any blockers? => kubernetes upgrade|kubernetes
Did Kubernetes lose any pods? => kubernetes|pods
What is my blood type? => * blood type

Has Maria finished the logo? => logo|maria
When did she start? => logo|maria
Show the invoices of March => * invoices

Plan a birthday party for Leo => birthday party|leo
how many guests did we invite? => birthday party|leo|guests
what about the cake? => birthday party|leo|cake
Why does the VPN disconnect every hour? => * vpn

I want to learn Spanish => spanish
which app did you suggest? => spanish|app
What was the name of that Thai restaurant? => * thai restaurant|thai|restaurant

Who is our accountant? => accountant
what's her email? => accountant
when do I have to file the taxes? => * taxes

tell me more about the solar panels => solar panels
are they worth it? => solar panels
how much electricity do the solar panels make? => solar panels|electricity
what was the score of the match? => * match|score

The flight to Tokyo is at 9 => flight|tokyo|flight to tokyo
which terminal? => flight|tokyo|flight to tokyo|terminal
Is the hotel in Tokyo near a station? => tokyo|hotel
Did the plumber call back? => * plumber

fix the typo in README.md => typo|readme.md
now push it => typo|readme.md
what does the license say? => * license

How old is grandma? => grandma
when was she born? => grandma
Which medicine does grandma take? => grandma|medicine
remind me of the parking rules downtown => * parking rules|parking

What is Frank working on? => frank
is he on holiday? => frank
is Grace available on Monday? => * grace

my laptop is slow => laptop
could it be the disk? => laptop|disk
Which laptop should I buy? => laptop
Where did we go hiking last summer? => * hiking

Do we have tests for the payment module? => payment module|tests
run them please => payment module|tests
the payment module needs a retry => payment module|retry
What did the doctor say about my knee? => * knee|doctor

What's in the fridge? => fridge
can I make pancakes from that? => fridge|pancakes
How do I reset the router? => * router

Was the offer from Umbrella Corp good? => umbrella corp|offer
what salary did they offer? => umbrella corp|offer|salary
Should I take it? => umbrella corp|offer
Who won the chess tournament? => * chess tournament|chess

thanks => general
what's the next milestone of Apollo? => apollo
who's responsible? => apollo
Is Apollo delayed because of the vendor? => apollo|vendor

Do you remember my shoe size? => shoe size|shoe|size
And my jacket size? => jacket size|jacket|size|shoe size|shoe
Summarize yesterday's standup => * standup

Let's talk about the marathon training => marathon training|marathon
how far did I run on Sunday? => marathon training|marathon
so what's next? => marathon training|marathon
Another question: which visa do I need for India? => * visa|india

WHAT IS THE STATUS OF HERON? => heron
WHO OWNS IT? => heron
WHERE IS MY UMBRELLA? => * umbrella

what's the difference between Redis and Memcached? => redis|memcached
which one do we use? => redis|memcached
Is Redis persistent? => redis
How long do I boil eggs? => * eggs

上海的会议改到几点了？ => 会议|上海会议|上海
都有谁参加？ => 会议|上海会议|上海
我的体检报告在哪里？ => * 体检报告

小红喜欢什么颜色？ => 小红|颜色
她的生日呢？ => 小红|颜色|生日
打印机怎么连接？ => * 打印机

登录页面为什么打不开？ => 登录页面
是谁改的？ => 登录页面
登录页面修好了吗？ => 登录页面
周末去哪里爬山？ => * 爬山

帮我总结一下合同的要点 => 合同|合同要点
什么时候签的？ => 合同|合同要点
对方是谁？ => 合同|合同要点
另外，猫粮还够吗？ => * 猫粮

那个餐厅叫什么名字？ => 餐厅
贵吗？ => 餐厅
孩子的学费交了吗？ => * 学费|孩子

关于凤凰项目的预算 => 凤凰项目|凤凰
还剩多少？ => 凤凰项目|凤凰
凤凰项目的负责人是谁？ => 凤凰项目|凤凰
我昨天把雨伞忘在哪里了？ => * 雨伞

服务器的密码是什么？ => 服务器|服务器密码
上次是什么时候改的？ => 服务器|服务器密码
奶奶住在哪个城市？ => * 奶奶
"""

# Written last, to see what the rules are worth where nobody has looked before: 56 topics and 59
# shifts of these 65 turns were right at first sight; mended as above.
FRESH = """
Who maintains the billing service? => billing service|billing
does she speak German? => billing service|billing
what broke in the billing service last week? => billing service|billing
Find my notes on stoicism => * stoicism

remind me what Priya wants for the kitchen => priya|kitchen
which tiles did she pick? => priya|kitchen|tiles
and the sink? => priya|kitchen|tiles|sink
When does the car insurance renew? => * car insurance|insurance

is the backup running? => backup
since when? => backup
I'd like to plan a trip to Lisbon => * trip|lisbon|trip to lisbon
what about flights? => lisbon|trip|flights|trip to lisbon

Explain how OAuth works => oauth
is it secure? => oauth
Write a haiku about autumn => * autumn|haiku

what's our refund policy? => refund policy
who approved it and when? => refund policy
does the refund policy cover damaged goods? => refund policy|damaged goods|goods
Who was at the retro yesterday? => * retro

Has the package from Ikea arrived? => ikea|package
track it please => ikea|package
what's Nina's favorite tea? => * nina|tea|favorite tea

How much RAM does heron have? => heron|ram
and falcon? => falcon|heron|ram
Did I water the plants? => * plants

We should talk about the mortgage => mortgage
what rate did the bank offer? => mortgage|bank|rate
How do I change a bike tire? => * bike tire|bike|tire

My back hurts => back|general|hurts
what did the physio suggest? => physio|back
Where do we store the API keys? => * api keys|api

what music does Oliver play? => oliver|music
is he in a band? => oliver|music|band
anything new on the Hudson contract? => * hudson contract|hudson

Compare Vue with Svelte => vue|svelte
which is faster? => vue|svelte
ok, use Svelte => svelte|vue
Which day is the school play? => * school play|school

Summarize my reading list => reading list
what's on top? => reading list
thanks a lot => reading list
Why is the heating bill so high? => * heating bill|heating

the dashboard shows wrong numbers => dashboard|numbers|wrong numbers
since when does it do that? => dashboard|numbers|wrong numbers
Who has a key to the cellar? => * cellar|key

When did we last see the Millers? => millers
what did they bring? => millers
Let's talk about something else => * general
How do I descale the espresso machine? => espresso machine|espresso

Is the demo on Thursday? => demo
who presents? => demo
What about catering? => catering|demo
By the way, did I renew my library card? => * library card|library

支付模块的测试通过了吗？ => 支付模块|测试|支付模块测试
哪一个失败了？ => 支付模块|测试|支付模块测试
陈老师什么时候回来？ => * 陈老师

爸爸的血压药叫什么？ => 血压药|爸爸
一天吃几次？ => 血压药|爸爸
护照什么时候到期？ => * 护照

上次去杭州住的酒店是哪家？ => 酒店|杭州
离西湖远吗？ => 酒店|杭州|西湖
帮我写一封辞职信 => * 辞职信

客户对新版本满意吗？ => 客户|新版本|版本
他们提了什么意见？ => 客户|新版本|版本
换个话题，晚饭吃什么？ => * 晚饭
"""
