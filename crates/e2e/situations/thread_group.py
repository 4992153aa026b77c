"""Prints a JMeter plan of one thread group: `thread_group.py PORT THREADS SAMPLES_PER_MINUTE SECONDS MODE`.

Must not know what answers. MODE is that of the Constant Throughput Timer: 0 for each thread, 1 for all.
"""

import sys

PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Visitors">
  <stringProp name="ThreadGroup.num_threads">{threads}</stringProp>
  <stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <boolProp name="ThreadGroup.scheduler">true</boolProp>
  <stringProp name="ThreadGroup.duration">{seconds}</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp>
    <intProp name="LoopController.loops">-1</intProp>
  </elementProp>
</ThreadGroup><hashTree>
<ConstantThroughputTimer guiclass="TestBeanGUI" testclass="ConstantThroughputTimer" testname="Pace">
  <intProp name="calcMode">{mode}</intProp>
  <doubleProp><name>throughput</name><value>{per_minute}</value><savedValue>0.0</savedValue></doubleProp>
</ConstantThroughputTimer><hashTree/>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Home">
  <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
  <stringProp name="HTTPSampler.port">{port}</stringProp>
  <stringProp name="HTTPSampler.protocol">http</stringProp>
  <stringProp name="HTTPSampler.path">/</stringProp>
  <stringProp name="HTTPSampler.method">GET</stringProp>
  <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"""

port, threads, per_minute, seconds, mode = sys.argv[1:]
print(PLAN.format(port=port, threads=threads, per_minute=per_minute, seconds=seconds, mode=mode))
