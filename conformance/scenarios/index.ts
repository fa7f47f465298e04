/** Every scenario, in the order in which tables show them. */

import { approve } from './further/approve.js';
import { askedHuman } from './further/asked-human.js';
import { cancelOpenCall } from './further/cancel-open-call.js';
import { cancelWaiting } from './further/cancel-waiting.js';
import { changedDefinition } from './further/changed-definition.js';
import { childFails } from './further/child-fails.js';
import { childRights } from './further/child-rights.js';
import { close } from './further/close.js';
import { closeAgent } from './further/close-agent.js';
import { compact } from './further/compact.js';
import { contextLimit } from './further/context-limit.js';
import { deny } from './further/deny.js';
import { depthLimit } from './further/depth-limit.js';
import { duplicateInput } from './further/duplicate-input.js';
import { earlyAnswer } from './further/early-answer.js';
import { editedArgs } from './further/edited-args.js';
import { flakyProvider } from './further/flaky-provider.js';
import { followUp } from './further/follow-up.js';
import { idempotentTool } from './further/idempotent-tool.js';
import { invalidArgs } from './further/invalid-args.js';
import { lateSettlement } from './further/late-settlement.js';
import { malformedOutput } from './further/malformed-output.js';
import { pause } from './further/pause.js';
import { queuedInputs } from './further/queued-inputs.js';
import { raisedLimit } from './further/raised-limit.js';
import { reasoningEffort } from './further/reasoning-effort.js';
import { reconciledTool } from './further/reconciled-tool.js';
import { rememberedApproval } from './further/remembered-approval.js';
import { returns } from './further/returns.js';
import { revokedWhileWaiting } from './further/revoked-while-waiting.js';
import { secondRun } from './further/second-run.js';
import { sendInput } from './further/send-input.js';
import { settledOutside } from './further/settled-outside.js';
import { spawnAgain } from './further/spawn-again.js';
import { staleEpoch } from './further/stale-epoch.js';
import { steer } from './further/steer.js';
import { steerWhileCancelling } from './further/steer-while-cancelling.js';
import { stepsLimit } from './further/steps-limit.js';
import { tokenLimit } from './further/token-limit.js';
import { tooManyCalls } from './further/too-many-calls.js';
import { toolFailure } from './further/tool-failure.js';
import { toolTimeout } from './further/tool-timeout.js';
import { twoChildren } from './further/two-children.js';
import { unknownModel } from './further/unknown-model.js';
import { unknownOutcome } from './further/unknown-outcome.js';
import { unknownTool } from './further/unknown-tool.js';
import { unreadSteer } from './further/unread-steer.js';
import { waitAny } from './further/wait-any.js';
import { waitTimeout } from './further/wait-timeout.js';
import { withdrawnInput } from './further/withdrawn-input.js';
import { adapterFailure } from './matrix/adapter-failure.js';
import { boundedOutput } from './matrix/bounded-output.js';
import { cancel } from './matrix/cancel.js';
import { capDeny } from './matrix/cap-deny.js';
import { loop } from './matrix/loop.js';
import { multiTool } from './matrix/multi-tool.js';
import { noTool } from './matrix/no-tool.js';
import { parentChild } from './matrix/parent-child.js';
import { policyDeny } from './matrix/policy-deny.js';
import { singleTool } from './matrix/single-tool.js';
import type { Scenario } from './scenario.js';

/** The ten scenarios that every way to reach a model has to pass, live as well. */
export const MATRIX: readonly Scenario[] = [
  noTool,
  singleTool,
  multiTool,
  boundedOutput,
  cancel,
  loop,
  policyDeny,
  capDeny,
  adapterFailure,
  parentChild,
];

/** The other scenarios: further cases of a session, its people, its children and its provider. */
const FURTHER: readonly Scenario[] = [
  secondRun,
  queuedInputs,
  withdrawnInput,
  duplicateInput,
  staleEpoch,
  unknownModel,
  reasoningEffort,
  changedDefinition,
  steer,
  unreadSteer,
  followUp,
  pause,
  cancelOpenCall,
  steerWhileCancelling,
  toolTimeout,
  toolFailure,
  malformedOutput,
  invalidArgs,
  unknownTool,
  unknownOutcome,
  idempotentTool,
  reconciledTool,
  settledOutside,
  lateSettlement,
  approve,
  deny,
  editedArgs,
  rememberedApproval,
  revokedWhileWaiting,
  askedHuman,
  stepsLimit,
  tokenLimit,
  raisedLimit,
  tooManyCalls,
  returns,
  flakyProvider,
  contextLimit,
  compact,
  twoChildren,
  waitAny,
  waitTimeout,
  cancelWaiting,
  close,
  closeAgent,
  sendInput,
  childFails,
  earlyAnswer,
  depthLimit,
  childRights,
  spawnAgain,
];

/** Every scenario. */
export const SCENARIOS: readonly Scenario[] = [...MATRIX, ...FURTHER];
