"""What differs between two plans, as a person would say it: partners, edits, causes, sentences, lines.

    explain          the way through: each of the steps below once, and compound edits
    partners         which calls are told as partners, where figures count others
    primitive_edits  what differs, call by call and argument by argument, as drafts without a sentence
    causes           which edit follows from which, and in what order they are told
    sentences        a draft in words, by one table; ``names`` names calls, places and values in it
    lines            edits as lines: habits, consequences under their cause
    merged_lines     lines that tell several edits: of each its price, what it may tell, its sentence
    edits            the types of all this, the codes, and how two values differ

Of two calls what they share is asked in ``matching``: ``pairing`` and ``likeness`` of calls of one tool,
``replaced`` of calls of two, of lists and of tries.
"""
