# A release fills in the words in capitals from its checksums.
class Skyhook < Formula
  desc "Webhook gateway and flight-booking service in one program"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@BASE_URL@/v@VERSION@/skyhook-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256 darwin-arm64@"
    end
    on_intel do
      url "@BASE_URL@/v@VERSION@/skyhook-@VERSION@-darwin-x64.tar.gz"
      sha256 "@SHA256 darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@BASE_URL@/v@VERSION@/skyhook-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256 linux-arm64@"
    end
    on_intel do
      url "@BASE_URL@/v@VERSION@/skyhook-@VERSION@-linux-x64.tar.gz"
      sha256 "@SHA256 linux-x64@"
    end
  end

  def install
    bin.install "skyhook"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/skyhook version")
  end
end
