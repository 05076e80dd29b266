import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEmpty, nameOf, problemOfName, writeFiles } from '../src/target-folder.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'create-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a folder is empty if it does not exist, or has only what git made', () => {
  expect(isEmpty(join(folder, 'none'))).toBe(true);
  mkdirSync(join(folder, '.git'));
  expect(isEmpty(folder)).toBe(true);
  writeFileSync(join(folder, 'a'), '');
  expect(isEmpty(folder)).toBe(false);
  expect(() => isEmpty(join(folder, 'a'))).toThrow('is not a folder');
});

test('names', () => {
  expect(problemOfName('my-app')).toBeUndefined();
  expect(problemOfName('@me/app')).toBeUndefined();
  expect(problemOfName('My App')).toMatch(/capital letters/);
  expect(problemOfName('node_modules')).toMatch(/node_modules/);
  expect(nameOf('/x/My App!')).toBe('my-app');
});

describe('writeFiles', () => {
  test('writes into folders of their own, and keeps a secret from other users', () => {
    const target = join(folder, 'a/b');
    writeFiles(
      target,
      new Map([
        ['src/x.ts', 'x'],
        ['.env', 'secret'],
      ]),
    );
    expect(readFileSync(join(target, 'src/x.ts'), 'utf8')).toBe('x');
    expect(statSync(join(target, '.env')).mode & 0o777).toBe(0o600);

    chmodSync(join(target, '.env'), 0o644);
    writeFiles(target, new Map([['.env', 'another']]));
    expect(statSync(join(target, '.env')).mode & 0o777).toBe(0o600);
  });

  test('leaves nothing behind, and changes nothing, if a file can not be written', () => {
    writeFileSync(join(folder, 'README.md'), 'mine');
    writeFileSync(join(folder, 'test'), 'a file, where a folder should be');
    const files = new Map([
      ['README.md', 'ours'],
      ['src/deep/x.ts', 'x'],
      ['test/y.ts', 'y'],
    ]);
    expect(() => writeFiles(folder, files)).toThrow(/^Nothing was created: /);
    expect(readdirSync(folder).sort()).toEqual(['README.md', 'test']);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine');
    expect(() => writeFiles(join(folder, 'test/app'), files)).toThrow(/^Nothing was created: /);
    expect(existsSync(join(folder, 'test/app'))).toBe(false);
  });
});
