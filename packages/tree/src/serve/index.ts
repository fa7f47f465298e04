/** Programs as nodes: the bridge that gives programs the tools of their session's owner. For Node. */
export { type AskOwnerOptions, askOwner, hasOwner, isProgramHere } from './ask-owner.js';
export { type Bridge, type BridgeOptions, type BridgeTools, bridge } from './bridge.js';
export { files } from './files.js';
export {
  type OwnerCommands,
  type OwnerSaid,
  type PeopleDoor,
  type PeopleDoorOptions,
  peopleDoor,
} from './people-door.js';
export {
  type ClaudeOptions,
  claude,
  codex,
  opencode,
  type PresetOptions,
  type ProgramOptions,
  program,
} from './presets.js';
export type { HearRefusal } from './refusals.js';
