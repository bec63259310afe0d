"""The bots' names and what they are. Imports nothing, so that `--help` answers at once; `search.players` makes the bots."""

#: What each bot is, by name.
SUMMARIES = {
    "rave": "tree search with RAVE (Gelly 2009)",
    "grave": "the same with an ancestor's statistics while a node is young (Cazenave 2015)",
    "uct": "tree search with UCB1 (Teresa)",
    "rave-v1": "tree search with RAVE of weighted first plays (Williams 2008, V1)",
    "rave-v2": "tree search with RAVE of weighted own plays (Williams 2008, V2)",
    "rave-mctr": "tree search with MCTR statistics (House's proposal)",
    "amaf": "all moves as first, no tree (Dailey's reference bot 2008)",
    "wamaf": "weighted all moves as first (Williams 2008, V1)",
    "wamaf2": "weighted own plays (Williams 2008, V2)",
    "mctr": "Monte Carlo with transposition of moves (House 2007, 1plyShuffle)",
    "mctr-capture": "the same in capture mode",
    "mc": "plain Monte Carlo, first moves drawn as all others of playouts (1plyMC)",
    "ucb": "Monte Carlo with UCB1 over the moves (Karl; 1plyUCT)",
    "amaf-first-twice": "negative control: AMAF with the first move counted double",
    "mctr-whole": "negative control: MCTR without the weight 1/k",
}
#: Those that search by a rule of selection.
TREES = ("rave", "grave", "uct", "rave-v1", "rave-v2", "rave-mctr", "ucb")
#: Those that `jaxgo gtp` and `jaxgo genmove`, where nobody says, have asking these policies in playouts, and beginning with prior
#: playouts (`search.Knowledge`): what won at equal time, or was level and tells win rates nearer the truth.
STRONG = ("rave", "grave")
#: The policies, as command lines name them, and the size of the largest board that each is for. Mercy, which Fuego has too, ends
#: playouts that are decided: it gave another winner to one in 10,000 or none, from the empty board.
SUITED_POLICIES = (("no-self-atari:0.9,nakade,patterns:0.9,mercy:25", 9), ("patterns,mercy:40", 13), ("patterns,mercy:60", 25))


def listing(names=tuple(SUMMARIES)) -> str:
    """Some bots' names and summaries, a line each."""
    width = max(map(len, names))
    return "bots:\n" + "\n".join(f"  {name:<{width}}  {SUMMARIES[name]}" for name in names) + "\n"
