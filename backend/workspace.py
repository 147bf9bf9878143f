"""The rooms joined: what the pages and the command line call. One object a process, safe to share between threads."""
