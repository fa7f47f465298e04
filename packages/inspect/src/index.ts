/** The page that shows a world: its server, and the files of the page. */
export type * from './contract/index.js';
