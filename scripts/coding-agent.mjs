/* `npm run coding-agent [-- FOLDER …]`: a coding agent at the terminal. */
import './lib/node-version.mjs';
import { startExample } from './lib/start-example.mjs';

await startExample('coding-agent');
