"""The weights of the ranking, in one table, with what each is worth.

Fitted on LoCoMo and looked at on BEAM and MADial-zh, and the other way round; rounded to what is
good on all three. `python -m tests.benchmarks.weights` prints what follows, and fits anew.
"""

# Multiply sums of words, shares of what an ideal passage would have: see `ranking`.
OWN = 1.0
WINDOW = 0.6
SECTION = 0.2
ANSWERS = 0.3

# Multiply the nearness of vectors: see `fusion`.
MEANING = 0.6
NEIGHBOURS = 0.4

# Priors: parts of the best sum of the pool: see `priors`.
SPEAKER = 0.2
OPENS = 0.2
ASSISTANT = -0.25
TIME = 0.3
ASKS = -0.1
QUOTED = 0.5  # not measured: no question of the data sets quotes
RECENCY = 0.5  # times recency_weight, for a passage of today; less for older ones, see days.aging

# What a superseded passage's sum is multiplied with, so that its successor stands above it.
SUPERSEDED = 0.5
# What a passage by itself gets for all of its share.
FULL = OWN + WINDOW + SECTION
