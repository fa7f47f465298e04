/** Programs as nodes: the bridge that gives programs the tools of their session's owner. For Node. */
export { askOwner, hasOwner, type OwnerCommands, type OwnerSaid, takeCommands } from './ask-owner.js';
export { type Bridge, type BridgeOptions, type BridgeTools, bridge } from './bridge.js';
export { files } from './files.js';
export {
  type ClaudeOptions,
  claude,
  codex,
  opencode,
  type PresetOptions,
  type ProgramOptions,
  program,
} from './presets.js';
export { OwnerSocket } from './socket.js';
