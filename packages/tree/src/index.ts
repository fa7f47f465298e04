/** Trees of agents: a goal that grows into nodes, each a session of its own. */

export type { FileCapture } from './adapters/check.js';
export * from './pure/index.js';
export { type NodeToolTerms, nodeToolCatalog, nodeTools } from './tools/node-tools.js';
export {
  type AskView,
  type FactOfTree,
  type FramePlace,
  hasEnded,
  headLine,
  type LaunchView,
  type NodeView,
  nodeLines,
  openAsks,
  optionsOf,
  type PictureLine,
  type PictureOptions,
  pictureOf,
  plainPicture,
  type ShownState,
  stateOf,
  stateOfTree,
  type TreeEvent,
  TreeFold,
  type TreeView,
  treeEventOf,
  treeFactIn,
} from './views/index.js';
