/*
 * The first thing that every command imports: a clear message instead of a syntax error on an old Node.
 * Only syntax and modules that very old releases know, so that the message can be printed at all.
 */
const OLDEST = [20, 19, 0];

/* Compares the running release with the oldest supported one, number by number. */
function isOldEnough(version) {
  const parts = version.split('.').map(Number);
  for (let i = 0; i < OLDEST.length; i++) {
    if (parts[i] !== OLDEST[i]) return parts[i] > OLDEST[i];
  }
  return true;
}

if (!isOldEnough(process.versions.node)) {
  process.stderr.write(
    'Reprise needs Node ' +
      OLDEST[0] +
      '.' +
      OLDEST[1] +
      ' or newer; this is Node ' +
      process.versions.node +
      '.\n' +
      'Install a newer Node (https://nodejs.org) and run the same command again.\n',
  );
  process.exit(1);
}
