"""Prints a JMeter plan: `jmeter_plan.py PORT GROUPS`, of which GROUPS are a list as JSON.

Must not know what answers. A group has `threads`, `seconds`, `samplers`, and perhaps `think` (milliseconds before each sample)
or `per_minute` (samples of all its threads, by a Constant Throughput Timer), `data` (a file whose lines are used once),
`ramp` (seconds until all threads have started), `computes` (steps of a loop of a script before the samplers), and `on_error`. A sampler has a `path`, and perhaps a `method` and `contains`, which an assertion looks for.
"""

import json
import sys
from xml.sax.saxutils import escape

PORT, GROUPS = sys.argv[1], json.loads(sys.argv[2])


def texts(values):
    return "".join(f'<stringProp name="{name}">{escape(str(value))}</stringProp>' for name, value in values.items())


def element(kind, gui, name, inside, below=""):
    return f'<{kind} guiclass="{gui}" testclass="{kind}" testname="{escape(name)}">{inside}</{kind}><hashTree>{below}</hashTree>'


def assertion(text):
    inside = f'<collectionProp name="Asserion.test_strings">{texts({"1": text})}</collectionProp>'
    inside += texts({"Assertion.test_field": "Assertion.response_data"}) + '<intProp name="Assertion.test_type">16</intProp>'
    return element("ResponseAssertion", "AssertionGui", f"Says {text}", inside)


def sampler(given):
    inside = texts({"HTTPSampler.domain": "127.0.0.1", "HTTPSampler.port": PORT, "HTTPSampler.protocol": "http",
                    "HTTPSampler.path": given["path"], "HTTPSampler.method": given.get("method", "GET")})
    inside += '<boolProp name="HTTPSampler.use_keepalive">true</boolProp>'
    below = assertion(given["contains"]) if "contains" in given else ""
    return element("HTTPSamplerProxy", "HttpTestSampleGui", given["path"], inside, below)


def timers(given):
    if "think" in given:
        yield element("ConstantTimer", "ConstantTimerGui", "Think", texts({"ConstantTimer.delay": given["think"]}))
    if "per_minute" in given:
        inside = '<intProp name="calcMode">1</intProp><doubleProp><name>throughput</name>'
        inside += f'<value>{given["per_minute"]}</value><savedValue>0.0</savedValue></doubleProp>'
        yield element("ConstantThroughputTimer", "TestBeanGUI", "Pace", inside)


def data(given):
    if "data" in given:
        inside = texts({"filename": given["data"], "variableNames": "line", "delimiter": ","})
        inside += '<boolProp name="recycle">false</boolProp><boolProp name="stopThread">true</boolProp>'
        yield element("CSVDataSet", "TestBeanGUI", "Lines", inside)


def script(given):
    if "computes" in given:
        loop = f"def x = 0; for (int i = 0; i < {given['computes']}; i++) {{ x += i % 7 }}"
        yield element("JSR223Sampler", "TestBeanGUI", "Computes", texts({"scriptLanguage": "groovy", "script": loop}))


def group(given, number):
    inside = texts({"ThreadGroup.num_threads": given["threads"], "ThreadGroup.ramp_time": given.get("ramp", 0),
                    "ThreadGroup.duration": given["seconds"],
                    "ThreadGroup.on_sample_error": given.get("on_error", "continue")})
    inside += '<boolProp name="ThreadGroup.scheduler">true</boolProp>'
    inside += '<elementProp name="ThreadGroup.main_controller" elementType="LoopController">'
    inside += '<boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp>'
    below = "".join(data(given)) + "".join(timers(given)) + "".join(script(given)) + "".join(map(sampler, given["samplers"]))
    return element("ThreadGroup", "ThreadGroupGui", f"Group {number}", inside + "</elementProp>", below)


groups = "".join(group(given, number) for number, given in enumerate(GROUPS, 1))
plan = element("TestPlan", "TestPlanGui", "Shop", "", groups)
print(f'<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">'
      f"<hashTree>{plan}</hashTree></jmeterTestPlan>")
