/** What a world cost, by its receipts. */
export { type CostOfOptions, costOf } from './cost.js';
export { COST_KEYS, type CostKey, type CostReport, type CostRow, type CostSums, costReport } from './report.js';
