import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { explain as lookUp, type Explained } from '../explaining/explain.ts';
import { table } from '../terminal/table.ts';
import { joined, t } from '../terminal/text.ts';

export function explain(app: App): Command {
  return app
    .command('explain', 'What an answer of a receiver means, and what to do')
    .argument('[outcome|status]', 'such as signature-mismatch, or 404; all without it')
    .addHelpText(
      'after',
      examples(
        ['explain signature-mismatch', 'Why, and what to do'],
        ['explain 503', 'Everything that is answered so'],
      ),
    )
    .action(
      app.run(async (asked: string | undefined) => {
        const { output } = app;
        const found = lookUp(asked);
        if (asked === undefined && !output.json)
          await output.show(found, (ink) =>
            table(
              ink,
              ['outcome', 'status', 'meaning'],
              found.map(({ code, status, when }) => [ink.bold(code), status ?? '—', when]),
            ),
          );
        else
          for (const one of found)
            await output.show(one, (ink) => [
              joined(
                [ink.bold(one.code), ...(named(one) ? [one.status] : []), ink.dim(one.service)],
                '  ',
              ),
              t`  ${one.when}`,
              t`  ${ink.cyan('do:')} ${one.fix}`,
            ]);
        return undefined;
      }),
    );
}

/** Whether the status says more than the code. */
const named = (one: Explained): one is Explained & { readonly status: number } =>
  one.status !== null && one.code !== String(one.status);
