import ts from 'typescript';

/**
 * Type-checks programs as a strict project does, all at once, since most of the time goes into what
 * they import.
 * @returns the errors of each program, one line each
 */
export function compile(files: readonly string[]): Map<string, string[]> {
  const program = ts.createProgram(files, {
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    customConditions: ['@call-webhooks/source'],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
  });
  const shared = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  return new Map(
    files.map((name) => {
      const file = program.getSourceFile(name);
      const own = [
        ...program.getSyntacticDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ];
      const texts = [...shared, ...own].map(({ messageText }) =>
        ts.flattenDiagnosticMessageText(messageText, ' '),
      );
      return [name, texts];
    }),
  );
}
