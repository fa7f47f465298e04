/** The page of a release: what changed, and what the package is, for its publisher and for users who verify it. */

/**
 * @param {{ manifest: any, changes: string, bytes: Buffer, size: number, files: Map<string, Buffer>, integrity: string }} release
 * `changes` is the change log
 * @returns {string}
 */
export function releasePage({ manifest, changes, bytes, size, files, integrity }) {
  const { name, version, exports, dependencies, peerDependencies } = manifest;
  const entries = Object.keys(exports).filter((subpath) => subpath !== './package.json');
  const list = (libraries) =>
    Object.entries(libraries)
      .map(([library, range]) => `\`${library}\` ${range}`)
      .join(', ');
  return `# ${name} ${version}

| | |
| --- | --- |
| tarball | \`${name}-${version}.tgz\`, ${bytes.length} bytes; unpacked ${size} bytes in ${files.size} files |
| integrity | \`${integrity}\` |
| Node | ${manifest.engines.node} |
| entries | ${entries.map((subpath) => `\`${name}${subpath.slice(1)}\``).join(', ')} |
| installed with it | ${list(dependencies)} |
| installed by its user | ${list(peerDependencies)}; all but zod are optional, and an error names one that is missing |

${sectionOf(changes, version)}
`;
}

/** The section of a version in the change log, or what is not released yet. @throws Error when there is neither */
export function sectionOf(changes, version) {
  const sections = changes.split(/^(?=## )/m);
  const titled = (title) => sections.find((section) => section.startsWith(`## ${title}`));
  const section = titled(version) ?? titled(`[${version}]`) ?? titled('Unreleased');
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}`);
  return section.trim();
}
