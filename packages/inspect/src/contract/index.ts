export type { PageFiles } from './page-files.js';
export type * from './reports.js';
