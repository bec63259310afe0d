"""`jaxgo analysis`: a server of KataGo's JSON analysis protocol.

To start reading, begin with what a client sends (`query`), see what becomes of it (`work`, `scheduler`) and how it is answered
(`replies`); `service` connects these with a client's lines, and `streams` with stdin, stdout and sockets. What is no matter of
the protocol lies below, for both protocols: `search.game`, `search.restrictions`, `search.findings`.
"""
