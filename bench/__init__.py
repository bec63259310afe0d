"""What jaxgo costs: speed, memory and start-up time, by itself and beside other engines.

Reading guide, bottom up:

    measure      a timed run, medians over runs, paired ratios
    hardware     what the figures were measured on
    worker       a process of its own, pinned to its cores, that runs one kind of work
    *_work       that work, for jaxgo, OpenSpiel, pgx, GNU Go and engines that are named by commands
    native, engines, differences
                 those commands; which engines are there; what they do for a playout
    machine_code, register_loop
                 a compiled program's loop, and the same operations on registers alone
    throughput, peers, environment, limit
                 one question each: what is measured, and how it is shown
    command      the `jaxgo bench` command

`command` imports no jax at its top, nor does what it imports, so that its help is there at once. The `*_work` modules do.
"""
