//@ args: --summary-trend-stats "avg",max --system-tags "url","vu"
// A list of a flag is a record of comma-separated values.
import exec from 'k6/execution';
export default function () { console.log(JSON.stringify(exec.test.options.systemTags), JSON.stringify(exec.test.options.summaryTrendStats)); }
