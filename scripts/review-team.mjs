/* `npm run review-team [-- FOLDER …]`: a team of specialists reviews a repository. */
import './lib/node-version.mjs';
import { startExample } from './lib/start-example.mjs';

await startExample('review-team');
