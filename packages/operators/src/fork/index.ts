/** Forks of a world: what would have happened with another answer, and which files share their past with it. */
export { forksOf } from './forks-of.js';
export {
  type ForkEffect,
  type ForkLink,
  type ForksReport,
  forksReport,
  type WhatIfReport,
  whatIfReport,
} from './report.js';
export { type WhatIfOptions, whatIf } from './what-if.js';
