import { Argument, type Command } from 'commander';
import { examples, type App } from '../app.ts';
import { bash, fish, zsh } from '../completing/scripts.ts';
import { completions } from '../completing/tree.ts';

const SHELLS = { bash, zsh, fish };

export function completion(app: App): Command {
  return app
    .command('completion', 'A script that completes commands and options')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      examples(
        ['completion bash', 'In ~/.bashrc: source <(call-webhooks completion bash)'],
        ['completion zsh', 'In ~/.zshrc, after compinit: source <(call-webhooks completion zsh)'],
        [
          'completion fish',
          'call-webhooks completion fish > ~/.config/fish/completions/call-webhooks.fish',
        ],
      ),
    )
    .action(
      app.run(async (shell: keyof typeof SHELLS, _options: object, command: Command) => {
        const root = command.parent ?? command;
        const script = SHELLS[shell](completions(root));
        if (app.output.json) await app.output.show({ shell, script }, () => []);
        else await app.output.raw(script);
        return undefined;
      }),
    );
}
