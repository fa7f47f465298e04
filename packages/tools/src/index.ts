/** Tools for agents: files, programs, HTTP, questions to people. */

export { type HttpOptions, http } from './http/http.js';
export { askHuman } from './human.js';
export { introspect } from './introspect.js';
export { type ProcessOptions, processes } from './process/processes.js';
export { type FileHistory, fileHistory } from './workspace/edit/recorded-changes.js';
export { type Restored, restoreFiles } from './workspace/edit/restore.js';
export { IGNORED_NAMES } from './workspace/folder/names.js';
export { SECRET_NAMES } from './workspace/folder/secret-names.js';
export { type WorkspaceOptions, workspace } from './workspace/workspace.js';
