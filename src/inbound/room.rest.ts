import { Elysia } from "elysia";

import type { Callers } from "../web/rest/route.ts";

import { onboardingRest } from "./onboarding/onboarding.rest.ts";
import type { Onboarding } from "./onboarding/onboarding.ts";
import { providerStatusRest } from "./provider-status/provider-status.rest.ts";
import type { ProviderStatusService } from "./provider-status/provider-status.ts";
import { providerSchemaRest } from "./providers/files/provider-schema.rest.ts";
import type { Receive } from "./receive/receive.ts";
import { webhooksRest } from "./receive/webhooks.rest.ts";
import { rejectionsRest } from "./rejections/rejections.rest.ts";
import type { Rejections } from "./rejections/rejections.ts";

interface Services {
  readonly receive: Receive;
  readonly rejections: Rejections;
  readonly providers: ProviderStatusService;
  readonly onboarding: Onboarding;
}

export const inboundRoutes = (services: Services, callers: Callers, publicUrl: string | null) =>
  new Elysia()
    .use(webhooksRest(services.receive, callers.addressOf, publicUrl))
    .use(rejectionsRest(services.rejections, callers))
    .use(providerStatusRest(services.providers, callers))
    .use(onboardingRest(services.onboarding, callers))
    .use(providerSchemaRest());
