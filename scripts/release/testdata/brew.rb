# Installs a formula as Homebrew does, as far as ours goes: brew.rb FORMULA ARCHIVES PREFIX
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

class Pathname
  def install(*names)
    mkpath
    names.flatten.each { |name| FileUtils.mv(name, self/File.basename(name)) }
  end

  def install_symlink(target)
    mkpath
    (self/target.basename).make_symlink(target)
  end
end

class Formula
  class << self
    attr_reader :archive, :sum

    %i[desc homepage version license depends_on test].each { |name| define_method(name) { |*| } }

    def on_intel = (yield if RUBY_PLATFORM.start_with?("x86_64"))
    def on_arm = (yield if RUBY_PLATFORM.start_with?("aarch64"))
    def url(url) = @archive = File.basename(url)
    def sha256(sum) = @sum = sum
  end

  def libexec = PREFIX/"libexec"
  def opt_libexec = libexec
  def bin = PREFIX/"bin"
  def man1 = PREFIX/"share/man/man1"
  def doc = PREFIX/"share/doc"
  def bash_completion = PREFIX/"etc/bash_completion.d"
  def zsh_completion = PREFIX/"share/zsh/site-functions"
  def fish_completion = PREFIX/"share/fish/vendor_completions.d"
end

formula, archives, prefix = ARGV
PREFIX = Pathname.new(prefix)
load formula
archive = File.join(archives, Reprise.archive)
abort "checksum of #{archive}" unless Digest::SHA256.file(archive).hexdigest == Reprise.sum
Dir.mktmpdir do |dir|
  system("tar", "xzf", archive, "-C", dir, "--strip-components=1") || abort
  Dir.chdir(dir) { Reprise.new.install }
end
puts Reprise.new.caveats
