import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

describe('workflows', () => {
  const ROOT = fileURLToPath(new URL('../../', import.meta.url));
  const FOLDER = `${ROOT}.github/workflows/`;
  const workflows = readdirSync(FOLDER).map((name) => ({
    name,
    lines: readFileSync(FOLDER + name, 'utf8').split('\n'),
  }));
  const linesWith = (text: string) =>
    workflows.flatMap(({ name, lines }) =>
      lines.filter((line) => line.includes(text)).map((line) => `${name}: ${line.trim()}`),
    );

  test('every action is pinned by the SHA of its commit, and its version is told', () => {
    // A workflow of this very repository is as it is in the same commit.
    const actions = linesWith('uses:').filter(
      (line) => !/uses: \.\/\.github\/workflows\//.test(line),
    );
    expect(actions.length).toBeGreaterThan(5);
    const pinned = /: (?:- )?uses: [\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(actions.filter((line) => !pinned.test(line))).toEqual([]);
  });

  test('an action has one SHA and one version, wherever it is used', () => {
    const pins = new Map<string, Set<string>>();
    for (const line of linesWith('uses:')) {
      const [, action, pin] = /uses: ([\w-]+\/[\w-]+)[\w/-]*@(.*)$/.exec(line) ?? [];
      if (action === undefined || pin === undefined) continue;
      pins.set(action, (pins.get(action) ?? new Set()).add(pin));
    }
    expect([...pins].filter(([, { size }]) => size > 1)).toEqual([]);
  });

  test('every workflow begins with no more than the right to read', () => {
    const open = workflows.filter(
      ({ lines }) => !/^permissions:(?: \{\}.*|\n {2}contents: read\n)$/m.test(lines.join('\n')),
    );
    expect(open.map(({ name }) => name)).toEqual([]);
  });

  test('only the jobs that publish, and the one that signs its score, can prove who they are', () => {
    expect(linesWith('id-token: write').map((line) => line.split(':')[0])).toEqual([
      'release.yml', // npm
      'release.yml', // the site
      'scorecard.yml',
    ]);
    expect(linesWith('pull_request_target')).toEqual([]);
    expect(linesWith('NPM_TOKEN')).toEqual([]);
  });

  test('every public package says where it comes from, and leaves provenance to the workflow', () => {
    for (const name of readdirSync(`${ROOT}packages`)) {
      const manifest = JSON.parse(readFileSync(`${ROOT}packages/${name}/package.json`, 'utf8')) as {
        private?: boolean;
        publishConfig?: object;
        repository?: object;
      };
      if (manifest.private === true) continue;
      expect(manifest.publishConfig).toEqual({ access: 'public' });
      expect(manifest.repository).toMatchObject({ directory: `packages/${name}` });
    }
    expect(linesWith('NPM_CONFIG_PROVENANCE')).toEqual([
      "release.yml: NPM_CONFIG_PROVENANCE: 'true'",
    ]);
  });
});
