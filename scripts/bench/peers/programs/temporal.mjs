/*
 * Temporal's replayer on the history of the workload. Its server cannot be had from a package registry, so the history
 * is written here as a server would: for each effect a workflow task and an activity, three events each.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { serve } from './serve.mjs';

const { temporal } = createRequire(import.meta.url)('@temporalio/proto');
const { EventType } = temporal.api.enums.v1;

/** The beginning of the history, in seconds. */
const START = 1_767_225_600;

const logger = new DefaultLogger('ERROR', () => undefined);
Runtime.install({
  logger,
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} } },
});
const workflowsPath = fileURLToPath(new URL('temporal-workflows.mjs', import.meta.url));
const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
const histories = new Map();

await serve(async ({ effects, sessions }) => {
  if (!histories.has(effects)) histories.set(effects, historyOf(effects));
  const history = histories.get(effects);
  const began = performance.now();
  for (let i = 0; i < sessions; i++) await Worker.runReplayHistory({ workflowBundle }, history, 'work');
  return { ms: performance.now() - began, effects: sessions * effects, events: history.events.length };
});

function historyOf(effects) {
  const events = [];
  const add = (type, attributes) => {
    const eventId = events.length + 1;
    const eventTime = { seconds: START + eventId };
    events.push({ eventId, eventTime, eventType: EventType[`EVENT_TYPE_${type}`], ...attributes });
    return eventId;
  };
  add('WORKFLOW_EXECUTION_STARTED', { workflowExecutionStartedEventAttributes: started(effects) });
  for (let n = 0; n < effects; n++) addEffect(add, n);
  const workflowTaskCompletedEventId = addTask(add);
  const result = payloads({ sum: (effects * (effects - 1)) / 2 });
  add('WORKFLOW_EXECUTION_COMPLETED', {
    workflowExecutionCompletedEventAttributes: { result, workflowTaskCompletedEventId },
  });
  return { events };
}

function started(effects) {
  const run = '00000000-0000-4000-8000-000000000001';
  return {
    workflowType: { name: 'work' },
    taskQueue: { name: 'bench' },
    input: payloads(effects),
    workflowId: 'work',
    originalExecutionRunId: run,
    firstExecutionRunId: run,
    identity: 'bench',
    attempt: 1,
    workflowTaskTimeout: { seconds: 10 },
    workflowExecutionTimeout: { seconds: 0 },
    workflowRunTimeout: { seconds: 0 },
  };
}

/** A workflow task: its three events. @returns the last of them */
function addTask(add) {
  const scheduledEventId = add('WORKFLOW_TASK_SCHEDULED', {
    workflowTaskScheduledEventAttributes: {
      taskQueue: { name: 'bench' },
      startToCloseTimeout: { seconds: 10 },
      attempt: 1,
    },
  });
  const startedEventId = add('WORKFLOW_TASK_STARTED', {
    workflowTaskStartedEventAttributes: { scheduledEventId, identity: 'bench', requestId: `t${scheduledEventId}` },
  });
  return add('WORKFLOW_TASK_COMPLETED', {
    workflowTaskCompletedEventAttributes: {
      scheduledEventId,
      startedEventId,
      identity: 'bench',
      // As a worker of this version writes it.
      sdkMetadata: { coreUsedFlags: scheduledEventId === 2 ? [1, 2, 3] : [] },
    },
  });
}

function addEffect(add, n) {
  const workflowTaskCompletedEventId = addTask(add);
  const scheduledEventId = add('ACTIVITY_TASK_SCHEDULED', {
    activityTaskScheduledEventAttributes: {
      activityId: `${n + 1}`,
      activityType: { name: 'note' },
      taskQueue: { name: 'bench' },
      input: payloads({ n }),
      startToCloseTimeout: { seconds: 60 },
      workflowTaskCompletedEventId,
    },
  });
  const startedEventId = add('ACTIVITY_TASK_STARTED', {
    activityTaskStartedEventAttributes: { scheduledEventId, identity: 'bench', requestId: `a${n}`, attempt: 1 },
  });
  add('ACTIVITY_TASK_COMPLETED', {
    activityTaskCompletedEventAttributes: { scheduledEventId, startedEventId, result: payloads({ n }) },
  });
}

function payloads(value) {
  const data = Buffer.from(JSON.stringify(value));
  return { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data }] };
}
