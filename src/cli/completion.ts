import { Argument, type Command, type Option } from "commander";

import { readConfig } from "../config/config.ts";
import { registeredProviders } from "../config/providers.ts";
import type { Provider } from "../inbound/providers/provider.ts";

import { example } from "./kit/arguments.ts";

/** Each script asks `skyhook complete`, so that it fits every version of the program. */
const scripts = {
  bash: `_skyhook() {
  local IFS=$'\\n'
  local words="$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _skyhook skyhook`,
  zsh: `#compdef skyhook
_skyhook() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _skyhook skyhook`,
  fish: `function __skyhook
  set -l words (commandline -opc) (commandline -ct)
  skyhook complete -- $words[2..] 2>/dev/null
end
complete -c skyhook -a '(__skyhook)'`,
} as const;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("completion")
    .description("print a script with which a shell completes commands, options and providers")
    .addArgument(new Argument("<shell>").choices(Object.keys(scripts)))
    .addHelpText(
      "after",
      example('eval "$(skyhook completion bash)"', "skyhook completion fish | source"),
    )
    .action((shell: keyof typeof scripts) => console.log(scripts[shell]));
  program
    .command("complete", { hidden: true })
    .argument("<words...>", "those of the command line, up to the one to complete")
    .action((words: readonly string[]) => {
      for (const word of candidates(program, words, env)) console.log(word);
    });
}

/** What can follow the words before the last, which may have begun. Empty where only the user knows. */
function candidates(
  program: Command,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const current = words.at(-1) ?? "";
  let command = program;
  const given: string[] = [];
  let awaiting: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (awaiting !== undefined) {
      awaiting = undefined;
    } else if (word.startsWith("-")) {
      const option = command.options.find(({ short, long }) => word === short || word === long);
      awaiting = option?.required === true ? option : undefined;
    } else {
      const below = command.commands.find((each) => each.name() === word);
      if (below === undefined) given.push(word);
      else command = below;
    }
  }
  if (awaiting !== undefined) {
    return awaiting.argChoices ?? valuesOf(awaiting.attributeName(), given, env);
  }
  const help = command.createHelp();
  if (current.startsWith("-")) {
    return help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  }
  const argument = command.registeredArguments[given.length];
  const below = given.length > 0 ? [] : help.visibleCommands(command).map((each) => each.name());
  return [...below, ...(argument?.argChoices ?? valuesOf(argument?.name(), given, env))];
}

function valuesOf(
  name: string | undefined,
  [id]: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  if (name !== "provider" && name !== "event") return [];
  const known = providersIn(env);
  if (name === "provider") return known.flatMap(namesOf);
  const provider = known.find((each) => namesOf(each).includes(id ?? ""));
  return Object.keys(provider?.samples ?? {});
}

/** The id, and the service if its name is one word: `code_host` and `github`. */
function namesOf({ id, displayName }: Provider): readonly string[] {
  const brand = displayName.toLowerCase();
  return brand === id || !/^\w+$/.test(brand) ? [id] : [id, brand];
}

/** None if the configuration is invalid: completion must not print errors. */
function providersIn(env: NodeJS.ProcessEnv): readonly Provider[] {
  try {
    return registeredProviders(readConfig(env));
  } catch {
    return [];
  }
}
