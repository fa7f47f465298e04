/** Tools for agents. */

export { type HttpOptions, http } from './http/http.js';
export { type AskHumanOptions, askHuman } from './human.js';
export { introspect } from './introspect.js';
export { type ProcessOptions, processes } from './process/processes.js';
export { IGNORED_NAMES } from './workspace/names.js';
export {
  type ChangeSource,
  type FileHistory,
  fileHistory,
  type RecordedChange,
  type UnseenCall,
} from './workspace/recorded-changes.js';
export { type Restored, type RestoredFile, type RestoreOptions, restoreFiles } from './workspace/restore.js';
export { SECRET_NAMES } from './workspace/secret-names.js';
export { type WorkspaceOptions, workspace } from './workspace/workspace.js';
