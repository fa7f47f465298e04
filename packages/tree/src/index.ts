/** Trees of agents: a goal that grows into nodes, each a session of its own. */

export type { FileCapture } from './adapters/check.js';
export * from './api/index.js';
export * from './pure/index.js';
export { nodeTools } from './tools/node-tools.js';
export {
  type AskView,
  askLine,
  countNodes,
  endsFromOutside,
  type FactOfTree,
  type FramePlace,
  hasEnded,
  headLine,
  lastAct,
  type NodeView,
  nodeLines,
  openAsks,
  optionsOf,
  type PictureLine,
  pictureOf,
  rightsInView,
  standsStill,
  stateOf,
  stateOfTree,
  type TreeEvent,
  TreeFold,
  type TreeView,
  type TreeWait,
  treeEventOf,
  waitsByNode,
  waitsOf,
  wordsOfActor,
} from './views/index.js';
