export type { Budget, Money } from './budget.js';
export type { NodeChange, NodeDetail, NodeSpec, OpenAsk } from './nodes.js';
export { type NodeBridge, type TreesOptions, trees } from './part.js';
export type { Answering, By, Done } from './requests.js';
export type { TreeOutcome } from './result.js';
export type { TreeReturns } from './returns.js';
export { Tree } from './tree.js';
export type { TreeRow, TreeSpec, Trees } from './trees.js';
