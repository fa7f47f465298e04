export type { PromptWords } from '../adapters/words.js';
export type { Budget, Money } from './budget.js';
export type {
  NodeChange,
  NodeDetail,
  NodeLaunch,
  NodePage,
  NodeSpec,
  OpenAsk,
  TreeWatchOptions,
} from './nodes.js';
export { type NodeBridge, type TreesOptions, trees } from './part.js';
export type { Answering, By, Done } from './requests.js';
export type { ReadResult, TreeOutcome } from './result.js';
export type { TreeReturns } from './returns.js';
export { Tree } from './tree.js';
export type { TreeQuery, TreeRow, TreeSpec, Trees } from './trees.js';
