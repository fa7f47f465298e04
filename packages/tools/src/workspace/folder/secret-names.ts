/**
 * Names of files that usually hold a secret, as data. Such files are not listed, searched, read or written: a tool's
 * result is journaled and sent to a model, and stays in both.
 *
 * Only names are checked. A secret in a file with another name is not found here.
 */

import { asciiLower } from '@reprise/contracts';
import { endingOf, nameMatcher, patternSource } from './name-matcher.js';

/**
 * Name patterns, case-insensitive: `*` for any text, `?` for a character that joins words or for nothing. They apply to
 * folders, too.
 */
export const SECRET_NAMES: readonly string[] = Object.freeze([
  // environments
  ...['.env*', '*.env', 'env.local', '.flaskenv', '.secret', '.secrets*', '.streamlit-secrets*'],
  // logins of package managers, registries and clouds
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pypirc', '.netrc', '_netrc', '.git-credentials', 'git-credentials'],
  ...['.dockercfg', '.dockerconfigjson', '.s3cfg', '.boto', 'rclone.conf', '.terraformrc', 'terraform.rc', '*.tfrc'],
  ...['auth.json', '*-auth.json', 'token.json', 'token.pickle', '*.token', '.*-token', 'vault?token', '.vault?token'],
  ...['.vault?pass*', 'oauth?token*.json', 'token.txt', '*-token.txt', '*_token.txt', 'local.settings.json'],
  ...['vault?pass*.txt', '*firebase-adminsdk*.json', '*service?account*.json', '*serviceaccount*.json', 'keyfile.json'],
  ...['gcp?key*.json', 'gcloud?key*.json', 'client?secret*.json', 'access?token*', 'refresh?token*', 'kubeconfig*'],
  ...['*.kubeconfig', '*.publishsettings', '*.cscfg', '.tugboat', '.pulumi-credentials', 'adc.json'],
  // state and variables of infrastructure
  ...['*.tfstate', '*.tfstate.*', '*.tfvars', '*.tfvars.json'],
  // databases, mail, file transfer
  ...['.pgpass', 'pgpass.conf', '.my.cnf', '.mylogin.cnf', '.msmtprc', '.fetchmailrc', '.esmtprc', '.authinfo*'],
  ...['.htpasswd*', '.htdigest*', '.passwd*', 'passwd', 'shadow', 'gshadow', 'master.passwd', 'proftpdpasswd'],
  ...['sftp-config.json', 'sftp.json', '.ftpconfig', '.remote-sync.json', 'filezilla.xml', 'sitemanager.xml'],
  ...['recentservers.xml', '.dbeaver-data-sources.xml', 'robomongo.json', 'wp-config.php', 'localsettings.php'],
  ...['secret_token.rb', 'key.properties', 'keystore.properties', 'signing.properties', '.credentials*'],
  // keys, certificates with keys, key stores
  ...['id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', 'id_xmss*', '*_rsa', '*_dsa', '*_ecdsa', '*_ed25519'],
  ...['ssh_host_*_key', 'deploy?key'],
  ...['*.pem', '*.key', '*.ppk', '*.p8', '*.pk8', '*.p12', '*.pfx', '*.pkcs12', '*.pvk', '*.snk', '*.jks', '*.jceks'],
  ...['*.bks', '*.keystore', '*.keytab', '*.kdb', '*.kdbx', '*.psafe3', '*.agilekeychain', '*.opvault', '*.keychain'],
  ...['*.keychain-db', '*.ovpn', '*.private?key', 'secring.*', 'private?key', 'private?key.*', 'wallet.dat', 'utc--*'],
  // histories of typed commands
  ...[
    '.*_history',
    '.*_history-*',
    '.history',
    '.zhistory',
    '.histfile',
    'fish_history',
    'consolehost_history.txt',
    '.dbshell',
  ],
  ...['.lesshst', '.viminfo', '.node_repl_history', '.rediscli_history'],
  // browsers
  ...['cookies', 'cookies.sqlite*', 'login data*', 'logins.json', 'logins-backup.json', 'signons.sqlite', 'key?.db'],
  ...['web data', 'cookies.txt', 'cookies.json'],
]);

/** Words that mark a secret in a data file: `secrets.yml`, `prod-credentials.json`, but not `secrets.ts`. */
const SECRET_WORDS = ['secret', 'secrets', 'credential', 'credentials', 'password', 'passwords', 'apikey', 'apikeys'];
const SECRET_WORDS_SPACED = ['api?key', 'api?keys', 'service?account', 'private?keys'];

/** Endings of files that hold data instead of a program. */
const DATA_ENDINGS =
  'json|jsonc|json5|ya?ml|toml|ini|cfg|conf|config|properties|xml|plist|txt|csv|tsv|db|sqlite|env|enc|gpg|asc|age';

/** Folders whose whole content counts as secret. */
const SECRET_FOLDERS: readonly string[] = [
  ...['.ssh', '.aws', '.gnupg', '.kube', '.docker', '.azure', '.gcloud', '.oci', '.password-store', '.vault'],
  ...['.terraform.d', '.chef', '.credentials', 'keyrings', '.gsutil', '.minikube'],
];

/** Files and folders that are secret inside a certain folder, as pairs of that folder and a name. */
const SECRET_PLACES: readonly (readonly [folder: string, name: string])[] = [
  ['.git', 'config'],
  ['.git', 'credentials'],
  ['.git', 'config.worktree'],
  ['.config', 'gcloud'],
  ['.config', 'gh'],
  ['.config', 'hub'],
  ['.config', 'op'],
  ['.config', 'doctl'],
  ['.config', 'solana'],
  ['.config', 'rclone'],
  ['.config', 'configstore'],
  ['gh', 'hosts.yml'],
  ['.m2', 'settings*.xml'],
  ['.gradle', 'gradle.properties'],
  ['.bundle', 'config'],
  ['.cargo', 'credentials*'],
  ['.gem', 'credentials*'],
  ['.jupyter', 'jupyter_*_config.json'],
];

/** Templates that are meant to be read: they name the variables without values. */
const NOT_SECRET: readonly string[] = [
  ...['example', 'sample', 'template', 'dist', 'tmpl', 'tpl'].flatMap((word) => [
    `.env*.${word}`,
    `.env.${word}.*`,
    `${word}.env`,
    `*.${word}.env`,
    `*.env.${word}`,
    `*.tfvars.${word}`,
    `${word}.tfvars`,
    `*.${word}.tfvars`,
    `*.${word}.*`,
    `*secrets.${word}*`,
    `*credentials.${word}*`,
  ]),
  '.secrets.baseline',
  '.env.d.ts',
  '.env.schema',
  'cookies.txt.example',
];

/** Endings of copies and archives; a copy of a secret file is secret, too. */
const COPY_WORDS = 'bak|backup|old|orig|save|swp|swo|tmp|copy|gz|tgz|tar|bz2|xz|zst|zip|7z';

/** How the name of a copy ends. Invisible characters hide an ending. */
const COPIES = new RegExp(
  `(?:\\.(?:${COPY_WORDS}|[0-9]{1,4}|[0-9]{4}-?[0-9]{2}-?[0-9]{2})| \\((?:copy|[0-9]{1,3})\\)|~|#|[\\u200b-\\u200f\\u2060\\ufeff\\s])$`,
  'is',
);

const secretName = nameMatcher(SECRET_NAMES);
const secretFolder = nameMatcher(SECRET_FOLDERS);
const notSecret = nameMatcher(NOT_SECRET);
const secretPlaces = SECRET_PLACES.map(([folder, name]) => [folder, nameMatcher([name])] as const);
const words = [...SECRET_WORDS, ...SECRET_WORDS_SPACED].map(patternSource).join('|');
const secretData = new RegExp(
  `^(?:.*[-_. ])?(?:${words})(?:[-_ ][^.]*)?\\.(?:[a-z0-9_-]+\\.)?(?:${DATA_ENDINGS})$`,
  'i',
);
const dataEnding = new RegExp(`^(?:${DATA_ENDINGS})$`);
const copyEndings = new Set(COPY_WORDS.split('|'));

/** Stems of secret files. A folder with such a name holds secrets, or the source code that handles them. */
const secretStem = /^(?:.*[-_. ])?(?:secrets|credentials?)$/is;

/** Source files of programs: a folder `src/secrets` with only these is readable like any other. */
const PROGRAM =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|kts|scala|cs|fs|php|swift|c|h|cc|cpp|hpp|mm?|ex|exs|erl|hs|clj|lua|pl|sh|md|mdx|rst|html?|s?css|vue|svelte|proto|graphql|sql|tf)$/is;

/**
 * Whether a path leads to a file that usually holds a secret. Every name counts, not only the last: a folder called
 * credentials counts like a file, except for source files in it.
 *
 * @param names from the root
 * @param last the type of the last name
 */
export function isSecretPath(names: readonly string[], last: 'file' | 'folder' = 'file'): boolean {
  const inProgram = last === 'folder' || PROGRAM.test(names.at(-1) ?? '');
  return names.some((name, at) => {
    if (isSecretName(name, placesIn(names[at - 1]))) return true;
    return !inProgram && isSecretStem(name);
  });
}

/**
 * The same check for the entries of one folder that is not secret itself: each name is judged on request.
 *
 * @param folder its names from the root
 */
export function secretsIn(folder: readonly string[]): (name: string, type: 'file' | 'folder') => boolean {
  const places = placesIn(folder.at(-1));
  const holdsSecrets = folder.some(isSecretStem);
  return (name, type) => {
    if (isSecretName(name, places)) return true;
    return type === 'file' && (holdsSecrets || isSecretStem(name)) && !PROGRAM.test(name);
  };
}

/** What is secret in a folder because of the folder's name. */
function placesIn(folder: string | undefined): readonly { test(lower: string): boolean }[] {
  if (folder === undefined) return [];
  const lower = asciiLower(folder);
  return secretPlaces.filter(([where]) => where === lower).map(([, what]) => what);
}

type Places = ReturnType<typeof placesIn>;

function isSecretName(name: string, places: Places): boolean {
  const lower = asciiLower(name);
  if (isListed(lower, places)) return true;
  if (!mayBeCopy(lower) || !COPIES.test(name)) return false;
  const original = name.replace(/^#/, '').replace(COPIES, '');
  if (original === '') return false;
  const plain = asciiLower(original.replace(/^\./, ''));
  return isSecretStem(original) || isSecretName(original, places) || isListed(plain, places);
}

/** Whether a name in lower case can end like that of a copy. Most names end with a letter, and their ending decides. */
function mayBeCopy(lower: string): boolean {
  const last = lower.charCodeAt(lower.length - 1);
  return last < 97 || last > 122 || copyEndings.has(endingOf(lower));
}

function isSecretStem(name: string): boolean {
  const last = name.charCodeAt(name.length - 1) | 32;
  return (last === 115 || last === 108) && secretStem.test(name); // s, l
}

function isListed(lower: string, places: Places): boolean {
  if (secretFolder.test(lower) || places.some((what) => what.test(lower))) return true;
  const isSecret = secretName.test(lower) || (dataEnding.test(endingOf(lower)) && secretData.test(lower));
  return isSecret && !notSecret.test(lower);
}
