"""`jaxgo serve`: the analysis engine and `jaxgo.evaluate` as a service over HTTP, on a Ray cluster.

To start reading, follow a request. It comes in at the `door`, which asks for the token, finds it a place (`places`) or says
"busy", and has it read and checked against the `limits`, as a query of the analysis protocol (`queries`) or as arrays (`boards`).
The `application` hands it to one of its replicas, again if that one dies; there the `engine` answers it, once what it needs is
compiled (`compiling`), and arrays `together` with others that wait.
Only the `application` knows Ray, only `door` and `listening` know HTTP; `metrics` are what has been counted.

The door stands in the process of the command, and not in Ray Serve's own HTTP proxy: that one answers with an error what a
replica that dies had accepted, knows no token, and reads bodies of any length.
"""
