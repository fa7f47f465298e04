/** The contracts of the ports that a database has to keep, on a real server. */
import { describePostgres } from './describe-postgres.js';
import { testPorts } from './port-suites.js';

describePostgres('PostgreSQL', (own) => testPorts('PostgreSQL', own, () => own.url));
