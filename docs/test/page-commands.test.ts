import { describe, expect, it } from '@jest/globals';
import { App } from '../../packages/cli/src/app.ts';
import { program } from '../../packages/cli/src/program.ts';
import { filesIn, read } from './files.ts';

/** The commands of the command line that pages show, without the variables before them. */
const shown = filesIn('packages', '.tsx').flatMap((file) =>
  [...read(file).matchAll(/<code>([^<]*)npx call-webhooks\s([^<]*)<\/code>/g)].map(
    ([, variables = '', command = '']) => ({
      file,
      variables: variables.trim(),
      argv: command.trim().split(/\s+/),
    }),
  ),
);

/** Parses a command as the program does, and runs nothing. @throws CommanderError */
async function parse(argv: readonly string[]): Promise<void> {
  const root = await program(new App({ stdout: {}, stderr: {}, env: {} } as never), argv);
  const [name] = argv;
  root.commands.find((one) => one.name() === name)?.action(() => undefined);
  await root.parseAsync([...argv], { from: 'user' });
}

describe('the commands in the pages', () => {
  it('are found', () => {
    expect(shown.map(({ file }) => file)).toContain('packages/console/page/now/first-steps.tsx');
  });

  it.each(shown)(
    '$argv is one that the command line takes ($file)',
    async ({ argv, variables }) => {
      await expect(parse(argv)).resolves.toBeUndefined();
      // Without a secret, `check` leaves out the authentic event; other machines have to be allowed.
      if (argv[0] === 'check') expect(variables).toMatch(/^CALL_WEBHOOK_SECRET=/);
      if (argv.some((word) => word.startsWith('https:')))
        expect(argv).toContain('--allow-external');
    },
  );

  it.each([
    ['check', 'https://your.app/hook'],
    ['check', '--url', '3000'],
    ['chek'],
    ['check', '--to'],
  ])('would fail with %s %s', async (...argv) => {
    await expect(parse(argv)).rejects.toThrow();
  });
});
