
import exec from 'k6/execution';

const UNITS = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };

/** Milliseconds of a duration such as `1h2m3.5s`; a bare number is milliseconds. */
export function parseDuration(text) {
  if (text === undefined || text === null || text.length < 1) throw new Error('str is empty');
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const parts = /(\d+(?:\.\d+)?)(ms|d|h|m|s)/y;
  let total = 0;
  while (parts.lastIndex < text.length) {
    const part = parts.exec(text);
    if (!part) throw new Error(`${text} is an invalid or unsupported duration`);
    total += Number(part[1]) * UNITS[part[2]];
  }
  return total;
}

function currentScenario() {
  const name = exec.scenario.name;
  const scenario = exec.test.options.scenarios[name];
  if (!scenario) throw new Error(`the exec.test.options object doesn't contain the current scenario ${name}`);
  if (!scenario.stages || scenario.stages.length < 1) {
    throw new Error(
      `only ramping-vus or ramping-arrival-rate supports stages, it is not possible to get a stage index on other executors.`,
    );
  }
  return scenario;
}

/** Number, from zero, of the stage that the current scenario is in. */
export function getCurrentStageIndex() {
  const { stages } = currentScenario();
  const passed = Date.now() - exec.scenario.startTime;
  let end = 0;
  for (let i = 0; i < stages.length; i++) {
    end += parseDuration(stages[i].duration);
    if (passed < end) return i;
  }
  return stages.length - 1;
}

/** Tags what follows in this iteration with `stage`, the number of the current stage. */
export function tagWithCurrentStageIndex() {
  exec.vu.metrics.tags.stage = getCurrentStageIndex();
}

/** Tags what follows in this iteration with `stage_profile`: ramp-up, steady or ramp-down. */
export function tagWithCurrentStageProfile() {
  exec.vu.metrics.tags.stage_profile = stageProfile();
}

function stageProfile() {
  const scenario = currentScenario();
  const index = getCurrentStageIndex();
  const start = scenario.startVUs ?? scenario.startRate ?? 0;
  const before = index > 0 ? scenario.stages[index - 1].target : start;
  const { target } = scenario.stages[index];
  if (target > before) return 'ramp-up';
  return target < before ? 'ramp-down' : 'steady';
}
