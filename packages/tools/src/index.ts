/** Tools for agents. */
export { IGNORED_NAMES, SECRET_NAMES } from './names.js';
export { type WorkspaceOptions, workspace } from './workspace.js';
