/** What a world cost. */
export { type CostOfOptions, costOf } from './cost.js';
export { COST_KEYS, type CostKey, type CostReport, type CostRow, type CostSums, costReport } from './report.js';
