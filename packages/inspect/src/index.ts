/** The page that shows a world: its server, and the files of the page. */
export type * from './contract/index.js';
export { type Inspector, type InspectorOptions, openInspector } from './inspector.js';
