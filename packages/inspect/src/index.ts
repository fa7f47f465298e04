/** The page that shows a world: its server, and the files of the page. */
export { openInspector } from './inspector.js';
