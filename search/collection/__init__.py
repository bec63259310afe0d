"""Collections: the positions of many games evaluated, on this machine or on a Ray cluster, with nothing lost.

A collection's positions are cut into parts (`parts`), which depend on the inputs and the settings alone. A worker makes of a part
the bytes of a Parquet file (`worker`: `reading`, then `playing` or `searching`, then `tables`); one process, the one that was
started, cuts the parts and writes the files (`store`), each whole or not at all, so that what a folder holds says what is done.
Workers need nothing but the part: no common disk, and no memory of earlier ones. `running` joins the two, with the worker in the
same process or with many of them on a cluster (`cluster`). `digest` reads the tables back for `report`, and `page` shows them.
"""
