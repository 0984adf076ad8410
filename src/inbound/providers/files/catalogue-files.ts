// The text of each file, so that the compiled program carries them.
import adyen from "./catalogue/adyen.yaml" with { type: "text" };
import asana from "./catalogue/asana.yaml" with { type: "text" };
import awsSns from "./catalogue/aws_sns.yaml" with { type: "text" };
import bitbucket from "./catalogue/bitbucket.yaml" with { type: "text" };
import box from "./catalogue/box.yaml" with { type: "text" };
import calCom from "./catalogue/cal_com.yaml" with { type: "text" };
import calendly from "./catalogue/calendly.yaml" with { type: "text" };
import discord from "./catalogue/discord.yaml" with { type: "text" };
import gitlab from "./catalogue/gitlab.yaml" with { type: "text" };
import gocardless from "./catalogue/gocardless.yaml" with { type: "text" };
import hubspot from "./catalogue/hubspot.yaml" with { type: "text" };
import intercom from "./catalogue/intercom.yaml" with { type: "text" };
import jira from "./catalogue/jira.yaml" with { type: "text" };
import lemonSqueezy from "./catalogue/lemon_squeezy.yaml" with { type: "text" };
import line from "./catalogue/line.yaml" with { type: "text" };
import linear from "./catalogue/linear.yaml" with { type: "text" };
import mailgun from "./catalogue/mailgun.yaml" with { type: "text" };
import mux from "./catalogue/mux.yaml" with { type: "text" };
import notion from "./catalogue/notion.yaml" with { type: "text" };
import okta from "./catalogue/okta.yaml" with { type: "text" };
import onfido from "./catalogue/onfido.yaml" with { type: "text" };
import openai from "./catalogue/openai.yaml" with { type: "text" };
import paddle from "./catalogue/paddle.yaml" with { type: "text" };
import pagerduty from "./catalogue/pagerduty.yaml" with { type: "text" };
import paypal from "./catalogue/paypal.yaml" with { type: "text" };
import paystack from "./catalogue/paystack.yaml" with { type: "text" };
import plaid from "./catalogue/plaid.yaml" with { type: "text" };
import razorpay from "./catalogue/razorpay.yaml" with { type: "text" };
import resend from "./catalogue/resend.yaml" with { type: "text" };
import sanity from "./catalogue/sanity.yaml" with { type: "text" };
import sendgrid from "./catalogue/sendgrid.yaml" with { type: "text" };
import sentry from "./catalogue/sentry.yaml" with { type: "text" };
import shopify from "./catalogue/shopify.yaml" with { type: "text" };
import slack from "./catalogue/slack.yaml" with { type: "text" };
import square from "./catalogue/square.yaml" with { type: "text" };
import standardWebhooks from "./catalogue/standard_webhooks.yaml" with { type: "text" };
import svix from "./catalogue/svix.yaml" with { type: "text" };
import telegram from "./catalogue/telegram.yaml" with { type: "text" };
import twilio from "./catalogue/twilio.yaml" with { type: "text" };
import twitch from "./catalogue/twitch.yaml" with { type: "text" };
import typeform from "./catalogue/typeform.yaml" with { type: "text" };
import webflow from "./catalogue/webflow.yaml" with { type: "text" };
import whatsapp from "./catalogue/whatsapp.yaml" with { type: "text" };
import workos from "./catalogue/workos.yaml" with { type: "text" };
import zendesk from "./catalogue/zendesk.yaml" with { type: "text" };
import zoom from "./catalogue/zoom.yaml" with { type: "text" };

/**
 * Provider files for real services, by name. `skyhook provider add` writes one into `PROVIDERS_DIR`, where it can be
 * changed. Each was checked against what its `checkedWith` says.
 */
export const catalogueFiles: Readonly<Record<string, string>> = {
  adyen,
  asana,
  aws_sns: awsSns,
  bitbucket,
  box,
  cal_com: calCom,
  calendly,
  discord,
  gitlab,
  gocardless,
  hubspot,
  intercom,
  jira,
  lemon_squeezy: lemonSqueezy,
  line,
  linear,
  mailgun,
  mux,
  notion,
  okta,
  onfido,
  openai,
  paddle,
  pagerduty,
  paypal,
  paystack,
  plaid,
  razorpay,
  resend,
  sanity,
  sendgrid,
  sentry,
  shopify,
  slack,
  square,
  standard_webhooks: standardWebhooks,
  svix,
  telegram,
  twilio,
  twitch,
  typeform,
  webflow,
  whatsapp,
  workos,
  zendesk,
  zoom,
};
