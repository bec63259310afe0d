"""`jaxgo analysis`: a server of KataGo's JSON analysis protocol.

To start reading, begin with what a client sends (`query`), see what becomes of it (`work`, `scheduler`) and how it is answered
(`replies`); `service` connects these with a client's lines, and `streams` with stdin, stdout and sockets.
"""
