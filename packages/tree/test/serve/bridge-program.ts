/** The bridge as a program that tests make into one file: it starts in a fraction of the time of its sources. */
import { serveRun } from '../../src/serve/bridge-bin.js';

serveRun(process.argv[process.argv.indexOf('--run') + 1] ?? '');
