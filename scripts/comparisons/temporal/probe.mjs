/**
 * Temporal's replayer on histories of a shop's order, written by hand since there is no server here. Prints, by row of the
 * divergence matrix, what it said. Run by `scripts/long/comparisons.ts` in a folder that has the packages.
 */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';

const { temporal } = createRequire(import.meta.url)('@temporalio/proto');
const { EventType } = temporal.api.enums.v1;

const quiet = new DefaultLogger('ERROR', () => undefined);
Runtime.install({
  logger: quiet,
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} } },
});

const payload = (value) => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(value)),
});
const payloads = (value) => ({ payloads: [payload(value)] });
const seconds = (n) => ({ seconds: n });
const START = 1_767_225_600;

/** The history of `sound`, under the name of a workflow that may do otherwise. */
function historyOf(workflow, { paid = { id: 'c-800' } } = {}) {
  const events = [];
  const add = (type, attributes) => {
    const id = events.length + 1;
    events.push({
      eventId: id,
      eventTime: seconds(START + id),
      eventType: EventType[`EVENT_TYPE_${type}`],
      ...attributes,
    });
    return id;
  };
  const task = () => {
    const scheduledEventId = add('WORKFLOW_TASK_SCHEDULED', {
      workflowTaskScheduledEventAttributes: {
        taskQueue: { name: 'shop' },
        startToCloseTimeout: seconds(10),
        attempt: 1,
      },
    });
    const startedEventId = add('WORKFLOW_TASK_STARTED', {
      workflowTaskStartedEventAttributes: { scheduledEventId, identity: 'probe', requestId: `t${scheduledEventId}` },
    });
    return add('WORKFLOW_TASK_COMPLETED', {
      workflowTaskCompletedEventAttributes: {
        scheduledEventId,
        startedEventId,
        identity: 'probe',
        // As a worker of this version writes it; without them the replayer leaves out checks, for the sake of old histories.
        sdkMetadata: { coreUsedFlags: scheduledEventId === 2 ? [1, 2, 3] : [] },
      },
    });
  };
  let activities = 0;
  const activity = (name, input, result) => {
    const workflowTaskCompletedEventId = task();
    const scheduledEventId = add('ACTIVITY_TASK_SCHEDULED', {
      activityTaskScheduledEventAttributes: {
        activityId: `${++activities}`,
        activityType: { name },
        taskQueue: { name: 'shop' },
        input: payloads(input),
        startToCloseTimeout: seconds(60),
        workflowTaskCompletedEventId,
      },
    });
    const startedEventId = add('ACTIVITY_TASK_STARTED', {
      activityTaskStartedEventAttributes: { scheduledEventId, identity: 'probe', requestId: name, attempt: 1 },
    });
    add('ACTIVITY_TASK_COMPLETED', {
      activityTaskCompletedEventAttributes: { scheduledEventId, startedEventId, result: payloads(result) },
    });
  };
  add('WORKFLOW_EXECUTION_STARTED', {
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: workflow },
      taskQueue: { name: 'shop' },
      input: { payloads: [] },
      workflowId: 'order-a',
      originalExecutionRunId: '00000000-0000-4000-8000-000000000001',
      firstExecutionRunId: '00000000-0000-4000-8000-000000000001',
      identity: 'probe',
      attempt: 1,
      workflowTaskTimeout: seconds(10),
      workflowExecutionTimeout: seconds(0),
      workflowRunTimeout: seconds(0),
    },
  });
  activity('charge', { cents: 800, order: 'a' }, paid);
  const startedEventId = add('TIMER_STARTED', {
    timerStartedEventAttributes: {
      timerId: '1',
      startToFireTimeout: seconds(60),
      workflowTaskCompletedEventId: task(),
    },
  });
  add('TIMER_FIRED', { timerFiredEventAttributes: { timerId: '1', startedEventId } });
  activity('mail', { to: 'desk', text: 'order a: 800' }, { sent: true });
  add('WORKFLOW_EXECUTION_COMPLETED', {
    workflowExecutionCompletedEventAttributes: {
      result: payloads({ ok: true, id: 'c-800' }),
      workflowTaskCompletedEventId: task(),
    },
  });
  return { events };
}

/** A history without one of its events, or with one of them twice; numbers follow. */
const numbered = (events) => ({ events: events.map((event, i) => ({ ...event, eventId: i + 1 })) });
const placeOf = ({ events }, part) => events.findIndex((event) => event[part] !== undefined);

const HISTORIES = {
  'what was recorded': () => historyOf('sound'),
  'changed code: effect parameters': () => historyOf('effectParameters'),
  'changed code: effects in another order': () => historyOf('effectsInAnotherOrder'),
  'changed code: another effect': () => historyOf('anotherEffect'),
  'changed code: an effect too many': () => historyOf('anEffectTooMany'),
  'changed code: an effect too few': () => historyOf('anEffectTooFew'),
  'changed code: an effect’s deadline': () => historyOf('anEffectsDeadline'),
  'changed code: what is made of a receipt': () => historyOf('whatIsMadeOfAReceipt'),
  'changed code: a plan’s input': () => historyOf('aPlansInput'),
  'changed code: a timer’s time': () => historyOf('aTimersTime'),
  'changed code: a definition that is gone': () => historyOf('noSuchWorkflow'),
  'ambient: what the collector has left': () => historyOf('whatTheCollectorHasLeft'),
  'receipts and writers: a receipt with another payload': () => historyOf('sound', { paid: { id: 'c-1' } }),
  'receipts and writers: a receipt that is gone': () => {
    const history = historyOf('sound');
    return numbered(history.events.toSpliced(placeOf(history, 'activityTaskCompletedEventAttributes'), 1));
  },
  'receipts and writers: a receipt twice': () => {
    const history = historyOf('sound');
    const at = placeOf(history, 'activityTaskCompletedEventAttributes');
    return numbered(history.events.toSpliced(at, 0, history.events[at]));
  },
  'integrity: a frame that is gone': () => {
    const history = historyOf('sound');
    return { events: history.events.toSpliced(placeOf(history, 'timerStartedEventAttributes'), 1) };
  },
  'integrity: frames in another order': () => {
    const { events } = historyOf('sound');
    const at = placeOf({ events }, 'timerStartedEventAttributes');
    return { events: events.with(at, events[at + 1]).with(at + 1, events[at]) };
  },
  'integrity: a cut tail': () => ({ events: historyOf('sound').events.slice(0, -4) }),
};

const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('workflows.js', import.meta.url)),
  logger: quiet,
});

async function replay(history, sinks = {}) {
  try {
    await Worker.runReplayHistory({ workflowBundle, sinks }, history, 'order-a');
    return null;
  } catch (error) {
    return `${error.name}: ${String(error.message).split('\n')[0]}`;
  }
}

/** The results of ambient calls in this process. */
async function ambientHere() {
  const told = [];
  const sinks = { probe: { tell: { fn: (_info, text) => void told.push(JSON.parse(text)), callDuringReplay: true } } };
  const said = [await replay(historyOf('ambient'), sinks), await replay(historyOf('ambient'), sinks)];
  return { told, said };
}

if (process.argv[2] === 'ambient') {
  console.log(JSON.stringify(await ambientHere()));
  process.exit(0);
}

const results = {};
for (const [row, make] of Object.entries(HISTORIES)) results[row] = await replay(make());
const [here, elsewhere] = [
  { TZ: 'UTC', LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' },
  { TZ: 'Pacific/Apia', LANG: 'sv_SE.UTF-8', LC_ALL: 'sv_SE.UTF-8' },
].map((place) =>
  JSON.parse(
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'ambient'], {
      env: { ...process.env, ...place },
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ),
);
console.log(JSON.stringify({ results, here, elsewhere }, null, 2));
process.exit(0);
