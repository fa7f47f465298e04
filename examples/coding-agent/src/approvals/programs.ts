/** What is known about programs, as data: which never get a pattern, and which may be followed by other words. */

/** Splits a list of names at its spaces. */
function names(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

/**
 * Programs that run other programs, or code in their arguments, or another machine; and the words and built-in commands
 * of a shell that change how it goes on. None of them gets a pattern. Compared without their version (`python3.12`).
 */
const NEVER = names(
  // shells, and what starts one
  'sh bash dash ash zsh ksh mksh fish csh tcsh pwsh powershell busybox toybox cmd',
  'su sudo doas runuser pkexec login newgrp sg chroot unshare nsenter bwrap firejail flatpak snap fakeroot',
  // words before a command
  'env time timeout nohup nice ionice chrt taskset setsid stdbuf unbuffer script xargs parallel watch entr caffeinate',
  'arch rlwrap flock setarch linux prlimit cpulimit systemd-run systemd-inhibit dbus-run-session xvfb-run torsocks',
  'proxychains faketime eatmydata cross-env cross-env-shell env-cmd dotenv direnv mise asdf nodemon concurrently',
  'strace ltrace gdb lldb valgrind perf expect tmux screen at batch crontab osascript open xdg-open wine',
  // package managers' ways to run anything
  'npx pnpx bunx uvx pipx uv poetry pipenv hatch pdm rye conda mamba micromamba bundle bundler nix nix-shell',
  // other machines, and machines inside this one
  'ssh mosh scp sftp rsync docker podman nerdctl kubectl oc lxc vagrant adb',
  // languages in which a program is an argument; editors and pagers that start a shell
  'perl ruby php lua awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs nano less more man bc dc m4 osacompile',
  'tsx ts-node deno bun erl elixir iex ghci scala groovy jshell sqlite psql mysql',
  // words of a shell
  'if then else elif fi do done case esac while until for in function select coproc',
  // built-in commands of a shell, but echo, pwd, true and false: `test -v` and `printf -v` evaluate what they are given
  '. : eval source exec command builtin trap alias unalias set unset export readonly declare typeset local let read',
  'mapfile readarray getopts shift hash enable shopt ulimit umask cd pushd popd dirs bind complete compgen compopt fc',
  'history jobs fg bg wait disown suspend kill exit logout return break continue caller type test printf times help',
);

/** Words that make a program run another one, wherever they stand. */
const EXECUTES = /^--?(?:exec|ok|eval|command|execdir|okdir|exec-batch|exec-path|config-env)(?:$|[-=])/;

/** Verbs that run any program or any package. */
const EXECUTING_VERBS: Readonly<Record<string, ReadonlySet<string>>> = {
  npm: names('exec x explore edit init create'),
  pnpm: names('exec dlx create init'),
  yarn: names('exec dlx create init node'),
  git: names('bisect submodule difftool mergetool filter-branch'),
  go: names('generate'),
  cargo: names('install'),
};

/** Programs that run a file: the file is their first argument, or one of these words is. */
const INTERPRETERS: Readonly<Record<string, ReadonlySet<string>>> = {
  node: names('--test'),
  python: new Set(),
  pypy: new Set(),
};

/**
 * A relative path without a way up, or a name: what may follow a pattern of first words. No address (`https://…`), no
 * drive (`C:/…`), and no file of further arguments (`@file`, as pytest reads).
 */
const OPERAND = /^(?!.*(?:^|[/:])\.\.(?:\/|$))(?!.*\/\/)(?![A-Za-z]:)[A-Za-z0-9_.][A-Za-z0-9_.,:@+%~/-]*$/;

/** Commands that may be followed by names and paths, and by the listed options, without doing anything else. */
interface Prefix {
  readonly words: readonly string[];
  /** How many words after `words` belong to the pattern: the script of `npm run`. */
  readonly named?: number;
  readonly options?: RegExp;
}

const GIT_FORM = '--stat|--shortstat|--name-only|--name-status|--oneline|--no-color|-p|-w';

const PREFIXES: readonly Prefix[] = [
  { words: ['git', 'status'], options: /^(?:-s|-b|-sb|--short|--branch|--porcelain|--ignored|-uno|-uall)$/ },
  { words: ['git', 'diff'], options: new RegExp(`^(?:${GIT_FORM}|--cached|--staged|-U[0-9]+|--)$`) },
  { words: ['git', 'log'], options: new RegExp(`^(?:${GIT_FORM}|--graph|--all|--decorate|-[0-9]+|-n|--)$`) },
  { words: ['git', 'show'], options: new RegExp(`^(?:${GIT_FORM}|--)$`) },
  { words: ['git', 'blame'] },
  { words: ['git', 'ls-files'] },
  ...['npm', 'pnpm', 'yarn'].map((program) => ({ words: [program, 'test'] })),
  // Not of yarn: its `run` also starts any program that is installed (`yarn run tsx other.ts`).
  ...['npm', 'pnpm'].map((program) => ({ words: [program, 'run'], named: 1 })),
  { words: ['cargo', 'test'], options: /^(?:--release|--all|--workspace|--all-features|-q)$/ },
  { words: ['cargo', 'check'], options: /^(?:--release|--all|--workspace|--all-features|--tests|-q)$/ },
  { words: ['cargo', 'build'], options: /^(?:--release|--all|--workspace|--all-features|-q)$/ },
  { words: ['cargo', 'clippy'], options: /^(?:--release|--all|--workspace|--all-features|--tests|-q)$/ },
  { words: ['go', 'test'], options: /^(?:-v|-race|-short|-count=[0-9]+)$/ },
  { words: ['go', 'build'], options: /^-v$/ },
  { words: ['go', 'vet'] },
  { words: ['pytest'], options: /^-(?:q|v|vv|x|s)$/ },
  { words: ['ls'], options: /^-[A1adFhlRrSt]+$/ },
];

/** Whether a command may get a pattern at all. */
export function mayHavePattern(words: readonly [string, ...string[]]): boolean {
  const [program, ...rest] = words;
  if (!/^(?:\.?\/)?[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$/.test(program)) return false;
  const name = nameOf(program);
  if (NEVER.has(name) || rest.some((word) => EXECUTES.test(word))) return false;
  if (rest.some((word) => EXECUTING_VERBS[name]?.has(word))) return false;
  // Options before the verb of git can name programs: `git -c core.pager=… log`.
  if (name === 'git' && rest[0]?.startsWith('-') !== false) return false;
  const starts = INTERPRETERS[name];
  const [first = ''] = rest;
  return starts === undefined || starts.has(first) || OPERAND.test(first);
}

/** `/usr/bin/Python3.12` is `python`. */
function nameOf(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1).toLowerCase();
  return name.replace(/\.(?:exe|cmd|bat)$/, '').replace(/(?<=[a-z])-?[0-9][0-9.]*$/, '');
}

/** The first words of a command that a pattern may cover with other words after them; undefined when they belong to no such command. */
export function firstWords(words: readonly string[]): readonly string[] | undefined {
  const prefix = PREFIXES.find((one) => startsWith(words, one.words));
  if (prefix === undefined) return undefined;
  const count = prefix.words.length + (prefix.named ?? 0);
  const first = words.slice(0, count);
  const named = first.slice(prefix.words.length);
  if (first.length < count || !named.every((word) => OPERAND.test(word))) return undefined;
  return mayFollow(first, words.slice(count)) ? first : undefined;
}

/** Whether words may follow the first words of a pattern. */
export function mayFollow(first: readonly string[], rest: readonly string[]): boolean {
  const prefix = PREFIXES.find((one) => startsWith(first, one.words));
  if (prefix === undefined || first.length !== prefix.words.length + (prefix.named ?? 0)) return false;
  return rest.every((word) => (word.startsWith('-') ? prefix.options?.test(word) === true : OPERAND.test(word)));
}

/** Whether a list of words starts with other words. */
export function startsWith(words: readonly string[], first: readonly string[]): boolean {
  return first.length <= words.length && first.every((word, at) => word === words[at]);
}
