export type * from './reports.js';
