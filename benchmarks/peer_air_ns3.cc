// Pages over 802.11b or g in ns-3.44: built and run by peer_air_ns3.py, which says what for.
//
// clients - (802.11, 5 m) - access point - (10 Mbit/s, 20 ms, one for each client) - server. 802.11b: 11 Mbit/s data, 2 Mbit/s
// control frames, long preamble; 802.11g: 54 and 24 Mbit/s. QoS, no RTS, beacons every 102.4 ms without jitter, no queue
// discipline; TcpNewReno, segments of 1460 B, no SACK, timestamps or window scaling. The first think time of each client begins
// with the 20th beacon. From 2 s on, each frame received has an error with a given probability, whatever its kind.
//
// ns-3.44 knows the power-management bit, and no power save. The rules of ns-3.48, read in its source, are written anew here:
// the station wakes when a beacon is due, sends a PS-Poll at the end of one that names it, and at each answer that says More
// Data; it sleeps as soon as it has nothing to send and nothing to fetch, and wakes to send, with no backoff left. PS-Polls have
// the access category best effort and go before data; the access point answers after a SIFS, by the first frame held or an ACK.
// They travel as block ack requests, which are as long, since ns-3.44 cannot write PS-Polls. The name of the network makes
// beacons as long as those of ns-3.48 with a TIM and a name of 3 letters: 80 B.
//
// With --asks, peer_policies.py is at the other end of standard input and output, with pages and a policy of psm_sim. It has
// the protocol. The policy decides when the link falls idle, in place of sleeping at once until the next beacon. To wait awake
// the station sends a null frame with PM = 0, and one with PM = 1 before it sleeps. Times count from the 20th beacon.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <dlfcn.h>
#include <functional>
#include <iostream>
#include <sstream>

using namespace ns3;

static const int64_t BEACON_NS = 102'400'000;
static const Time START = NanoSeconds(20 * BEACON_NS);
static const uint32_t LLC_BYTES = 8;
static const AcIndex CATEGORIES[] = {AC_BE, AC_BK, AC_VI, AC_VO};

static bool g_asks = false;         // whether a policy of psm_sim decides
static int g_interval = 1;          // listen interval, in beacons
static bool g_fromDoze = true;      // whether it is counted from the beginning of the doze, and not by the access point
static bool g_clientCloses = false; // whether clients close their connections first

static int64_t Clock(Time time)
{
    return (time - START).GetNanoSeconds();
}

// ---- power save

class SavingManager : public QosFrameExchangeManager
{
  public:
    static inline SavingManager* accessPoint = nullptr;
    static inline std::vector<SavingManager*> stations;
    static inline bool on = false;              // power save is enabled
    bool named = false;                         // by the beacon that was due last
    std::string held;                           // at the beacon that was due last: arrivals and bytes
    std::vector<std::pair<Time, bool>> states;  // of the station's radio: since when, and whether awake
    int polls = 0, unanswered = 0, unnamed = 0; // PS-Polls, those without an answer, and beacons that named nobody
    int beacons = 0;                            // that the station woke up for

    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::SavingManager").SetParent<QosFrameExchangeManager>().AddConstructor<SavingManager>();
        return id;
    }

    static void BeaconIsDue()
    {
        for (auto station : stations)
        {
            auto address = station->GetAddress();
            auto each = accessPoint->FirstHeld(address);
            station->named = each != nullptr;
            station->held.clear();
            for (; g_asks && each; each = accessPoint->FirstHeld(address, each))
            {
                station->held += " " + std::to_string(Clock(each->GetTimestamp()));
                station->held += " " + std::to_string(each->GetPacket()->GetSize() - LLC_BYTES);
            }
        }
        Simulator::Schedule(NanoSeconds(BEACON_NS), &SavingManager::BeaconIsDue);
    }

    void WakeUp()
    {
        m_beacon.Cancel();
        if (m_phy->IsStateSleep())
        {
            m_phy->ResumeFromSleep();
            states.emplace_back(Simulator::Now(), true);
        }
    }

    void WakeForBeacon()
    {
        WakeUp();
        m_wokeForBeacon = true;
        beacons += Simulator::Now() > START;
    }

    void Sends(Ptr<const Packet> packet)
    {
        if (g_asks && m_phy->IsStateSleep())
        {
            std::cout << "interrupted " << Clock(m_dozed) << " " << Clock(Simulator::Now()) << "\n";
        }
        WakeUp();
        Observe("sent", packet);
    }

    void Receives(Ptr<const Packet> packet)
    {
        Observe("received", packet);
    }

  protected:
    bool StartFrameExchange(Ptr<QosTxop> edca, Time available, bool initial) override
    {
        auto first = edca->GetWifiMacQueue()->Peek(m_linkId);
        if (!m_staMac || !first || !first->GetHeader().IsBlockAckReq())
        {
            return QosFrameExchangeManager::StartFrameExchange(edca, available, initial);
        }
        auto vector = DataVector(GetBssid());
        m_poll = first;
        m_answered = false;
        ++polls;
        AwaitAnswer(first, vector, vector);
        ForwardMpduDown(first, vector);
        return true;
    }

    void ForwardMpduDown(Ptr<WifiMpdu> mpdu, WifiTxVector& vector) override
    {
        if (m_poll && m_answered && mpdu->GetHeader().IsAck())
        {
            PollIsOver();
            Simulator::Schedule(AirTime(mpdu, vector), &SavingManager::TransmissionSucceeded, this);
        }
        QosFrameExchangeManager::ForwardMpduDown(mpdu, vector);
    }

    void RxStartIndication(WifiTxVector vector, Time lasts) override
    {
        QosFrameExchangeManager::RxStartIndication(vector, lasts);
        if (m_timeout.IsPending())
        {
            m_timeout.Cancel();
            m_channelAccessManager->NotifyAckTimeoutResetNow();
            m_timeout = Simulator::Schedule(lasts + NanoSeconds(400), &SavingManager::NoAnswer, this);
        }
    }

    void ReceiveMpdu(Ptr<const WifiMpdu> mpdu, RxSignalInfo info, const WifiTxVector& vector, bool inAmpdu) override
    {
        const auto header = mpdu->GetHeader();
        QosFrameExchangeManager::ReceiveMpdu(mpdu, info, vector, inAmpdu);
        if (m_staMac && header.IsBeacon() && IsSaving())
        {
            m_pending = named;
            unnamed += !named;
            if (m_wokeForBeacon && (named || !WantsToSend(true))) // else the radio stays awake to send
            {
                m_observed.str("");
                m_observed << " " << Clock(m_dozed) << " " << Clock(Due()) << held;
                m_empty = !named;
                m_beacons = m_repeat && m_empty ? m_beacons : 0;
            }
            m_beacons = g_asks ? m_beacons : 0;
            m_wokeForBeacon = false;
            GoOn();
        }
        else if (m_poll && header.GetAddr1() == GetAddress())
        {
            PollIsAnswered(header);
        }
        else if (m_staMac && header.IsQosData() && header.GetAddr1() == GetAddress())
        {
            auto ack = m_phy->GetSifs() + AckTime(GetBssid()) + MicroSeconds(1); // and both ways through the air
            Simulator::Schedule(ack, &SavingManager::SleepIfIdle, this);
        }
        else if (m_apMac && header.IsBlockAckReq())
        {
            Simulator::Schedule(m_phy->GetSifs(), &SavingManager::Answer, this, header, vector, info.snr);
        }
        else if (m_answer && header.IsAck())
        {
            m_timeout.Cancel();
            m_channelAccessManager->NotifyAckTimeoutResetNow();
            auto answer = m_answer;
            m_answer = nullptr;
            answer->ResetInFlight(m_linkId);
            NotifyReceivedNormalAck(answer);
            DequeueMpdu(answer);
        }
    }

    void NotifyChannelReleased(Ptr<Txop> txop) override
    {
        QosFrameExchangeManager::NotifyChannelReleased(txop);
        if (m_staMac)
        {
            SleepIfIdle();
        }
    }

  private:
    Ptr<WifiMpdu> m_poll, m_answer; // on the air: of the station, and of the access point
    bool m_pending = false;         // the access point has more for the station
    bool m_answered = false;
    EventId m_timeout, m_beacon, m_sleep, m_wait;
    bool m_wokeForBeacon = false;
    bool m_empty = false;          // the beacon just received has not named the station
    std::ostringstream m_observed; // what the policy is told of the last beacon
    Time m_dozed;
    int m_beacons = 0; // the doze that has been decided; 0 if none has
    bool m_repeat = false;

    static Time Due()
    {
        return NanoSeconds(Simulator::Now().GetNanoSeconds() / BEACON_NS * BEACON_NS);
    }

    // A frame ends the rest, and the policy has to decide anew.
    void Observe(const char* name, Ptr<const Packet> packet)
    {
        m_wait.Cancel();
        m_beacons = 0;
        m_empty = false;
        if (!g_asks)
        {
            return;
        }
        auto copy = packet->Copy();
        LlcSnapHeader llc;
        Ipv4Header ip;
        TcpHeader tcp;
        copy->RemoveHeader(llc);
        auto bytes = copy->GetSize();
        copy->RemoveHeader(ip);
        copy->RemoveHeader(tcp);
        bool ends = tcp.GetFlags() & (TcpHeader::FIN | TcpHeader::RST), opens = tcp.GetFlags() & TcpHeader::SYN;
        std::cout << name << " " << Clock(Simulator::Now()) << " "
                  << (name[0] == 's' ? tcp.GetSourcePort() : tcp.GetDestinationPort()) << " " << bytes << " "
                  << copy->GetSize() << " " << opens << " " << ends << "\n";
    }

    Time Decide(Time now)
    {
        auto next = now.GetNanoSeconds() / BEACON_NS + 1;
        m_beacons = g_fromDoze ? g_interval : (next + g_interval - 1) / g_interval * g_interval - next + 1;
        if (!g_asks || now < START)
        {
            return Time{0};
        }
        std::cout << "rest " << Clock(now) << (m_dozed < START ? "" : m_observed.str()) << std::endl;
        m_observed.str("");
        double awake;
        std::cin >> awake >> m_beacons >> m_repeat;
        NS_ABORT_IF(!std::cin);
        return Seconds(awake);
    }

    bool IsSaving() const
    {
        return m_staMac->GetPmMode(0) == WIFI_PM_POWERSAVE;
    }

    Ptr<WifiMpdu> FirstHeld(Mac48Address station, Ptr<WifiMpdu> after = nullptr)
    {
        WifiContainerQueueId id{WIFI_QOSDATA_QUEUE, WIFI_UNICAST, station, uint8_t(0)};
        return m_mac->GetTxopQueue(AC_BE)->PeekByQueueId(id, after);
    }

    WifiTxVector DataVector(Mac48Address to)
    {
        WifiMacHeader header(WIFI_MAC_QOSDATA);
        header.SetAddr1(to);
        header.SetQosTid(0);
        return GetWifiRemoteStationManager()->GetDataTxVector(header, m_phy->GetChannelWidth());
    }

    WifiTxVector AckVector(Mac48Address to)
    {
        return GetWifiRemoteStationManager()->GetAckTxVector(to, DataVector(to));
    }

    Time AckTime(Mac48Address to)
    {
        return WifiPhy::CalculateTxDuration(14, AckVector(to), m_phy->GetPhyBand());
    }

    Time AirTime(Ptr<const WifiMpdu> mpdu, const WifiTxVector& vector)
    {
        return WifiPhy::CalculateTxDuration(mpdu->GetSize(), vector, m_phy->GetPhyBand());
    }

    void AwaitAnswer(Ptr<const WifiMpdu> mpdu, const WifiTxVector& vector, const WifiTxVector& answer)
    {
        auto wait = m_phy->GetSifs() + m_phy->GetSlot() + WifiPhy::CalculatePhyPreambleAndHeaderDuration(answer);
        m_timeout = Simulator::Schedule(AirTime(mpdu, vector) + wait, &SavingManager::NoAnswer, this);
        m_channelAccessManager->NotifyAckTimeoutStartNow(AirTime(mpdu, vector) + wait);
    }

    void NoAnswer()
    {
        if (m_poll)
        {
            m_poll = nullptr;
            ++unanswered;
            TransmissionFailed();
        }
        else if (m_answer)
        {
            m_answer->ResetInFlight(m_linkId);
            m_answer->GetHeader().SetRetry();
            m_answer = nullptr;
        }
    }

    void PollIsAnswered(const WifiMacHeader& header)
    {
        m_timeout.Cancel();
        m_answered = true;
        if (m_pending)
        {
            m_pending = !header.IsAck() && header.IsMoreData();
            Simulator::Schedule(m_phy->GetSifs() + TimeStep(1), &SavingManager::GoOn, this);
        }
        if (header.IsAck())
        {
            PollIsOver();
            TransmissionSucceeded();
        }
    }

    void PollIsOver()
    {
        m_timeout.Cancel();
        m_channelAccessManager->NotifyAckTimeoutResetNow();
        m_dcf->ResetCw(m_linkId);
        m_mac->GetTxopQueue(AC_BE)->DequeueIfQueued({m_poll});
        m_poll = nullptr;
    }

    void GoOn()
    {
        if (!m_pending)
        {
            SleepIfIdle();
            return;
        }
        WifiMacHeader header(WIFI_MAC_CTL_BACKREQ);
        header.SetDsNotFrom();
        header.SetDsTo();
        header.SetNoRetry();
        header.SetNoMoreFragments();
        header.SetAddr1(GetBssid());
        header.SetAddr2(GetAddress());
        m_mac->GetQosTxop(AC_BE)->Queue(Create<WifiMpdu>(Create<Packet>(), header));
    }

    void Answer(WifiMacHeader poll, WifiTxVector vector, double snr)
    {
        auto station = poll.GetAddr2();
        auto held = FirstHeld(station);
        if (!held)
        {
            SendNormalAck(poll, vector, snr);
            return;
        }
        auto& header = held->GetHeader();
        if (!held->HasSeqNoAssigned())
        {
            held->AssignSeqNo(m_txMiddle->GetNextSequenceNumberFor(&header));
        }
        auto data = DataVector(station);
        auto ack = AckVector(station);
        header.SetQosAckPolicy(WifiMacHeader::NORMAL_ACK);
        header.SetDuration(m_phy->GetSifs() + AckTime(station));
        header.m_ctrlMoreData = FirstHeld(station, held) ? 1 : 0;
        held->SetInFlight(m_linkId);
        m_answer = held;
        m_allowedWidth = m_phy->GetChannelWidth();
        AwaitAnswer(held, data, ack);
        ForwardMpduDown(held, data);
    }

    bool WantsToSend(bool orWill) const
    {
        for (auto each : CATEGORIES)
        {
            auto txop = m_mac->GetQosTxop(each);
            if (txop->GetAccessStatus(0) != Txop::NOT_REQUESTED || (orWill && txop->HasFramesToTransmit(0)))
            {
                return true;
            }
        }
        return false;
    }

    void SleepIfIdle()
    {
        if (on && !m_pending && !m_phy->IsStateSleep() && !m_sleep.IsPending() && !WantsToSend(false))
        {
            m_sleep = Simulator::Schedule(Time{0}, &SavingManager::Rest, this);
        }
    }

    void Rest()
    {
        bool receives = !IsSaving() && accessPoint->FirstHeld(GetAddress());
        if (WantsToSend(true) || m_phy->IsStateSleep() || m_wait.IsPending() || receives)
        {
            return;
        }
        auto now = Simulator::Now(), since = g_asks && m_empty ? Due() : now;
        m_empty = false;
        if (m_beacons == 0)
        {
            auto awake = Decide(since);
            if (awake.IsStrictlyPositive())
            {
                m_wait = Simulator::Schedule(Max(Time{0}, since + awake - now), &SavingManager::Rest, this);
                Station()->SetPowerSaveMode({false, 0});
                return;
            }
        }
        if (!IsSaving())
        {
            Station()->SetPowerSaveMode({true, 0});
            return;
        }
        m_phy->SetSleepMode(true);
        if (since < now)
        {
            NS_ABORT_IF(states.back() != std::make_pair(since, true));
            states.pop_back(); // with a policy, the energy of an empty beacon is counted apart
        }
        else
        {
            states.emplace_back(now, false);
        }
        m_dozed = since;
        m_beacon.Cancel();
        auto wakes = (since.GetNanoSeconds() / BEACON_NS + m_beacons) * BEACON_NS;
        m_beacon = Simulator::Schedule(NanoSeconds(wakes) - now, &SavingManager::WakeForBeacon, this);
    }

    StaWifiMac* Station() const
    {
        return static_cast<StaWifiMac*>(PeekPointer(m_mac));
    }
};

NS_OBJECT_ENSURE_REGISTERED(SavingManager);

// Stands in the way of the library's function of this name, so that every device has a SavingManager.
void WifiMac::SetFrameExchangeManagers(const std::vector<Ptr<FrameExchangeManager>>& given)
{
    static auto real = (void (*)(WifiMac*, const std::vector<Ptr<FrameExchangeManager>>&))dlsym(
        RTLD_NEXT,
        "_ZN3ns37WifiMac24SetFrameExchangeManagersERKSt6vectorINS_3PtrINS_20FrameExchangeManagerEEESaIS4_EE");
    std::vector<Ptr<FrameExchangeManager>> saving;
    for (auto& each : given)
    {
        auto manager = CreateObject<SavingManager>();
        manager->SetProtectionManager(each->GetProtectionManager());
        manager->SetAckManager(each->GetAckManager());
        manager->SetAddress(each->GetAddress());
        manager->SetBssid(each->GetBssid());
        saving.push_back(manager);
    }
    real(this, saving);
}

static double AwakeSeconds(const SavingManager& station, Time begin, Time end)
{
    double sum = 0;
    bool awake = true;
    Time last = begin;
    for (auto& [time, becomesAwake] : station.states)
    {
        if (time > end)
        {
            break;
        }
        if (time > begin)
        {
            sum += awake ? (time - last).GetSeconds() : 0;
            last = time;
        }
        awake = becomesAwake;
    }
    return sum + (awake ? (end - last).GetSeconds() : 0);
}

// ---- browser and server

static bool g_persistent = false;
static uint32_t g_request = 300; // bytes; the first four say how long the reply is to be
static int g_loading = 0;        // browsers that have pages left
static const int CONNECTIONS = 4;

static void Closed(Ptr<Socket> socket)
{
    socket->Close();
}

struct Server
{
    std::map<Ptr<Socket>, std::pair<uint32_t, uint32_t>> asked; // bytes of a request that have come, and of its reply

    void Accepted(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&Server::Read, this));
        socket->SetCloseCallbacks(MakeCallback(&Closed), MakeCallback(&Closed));
    }

    void Read(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            std::vector<uint8_t> bytes(packet->GetSize());
            packet->CopyData(bytes.data(), bytes.size());
            auto& [got, reply] = asked[socket];
            for (auto byte : bytes)
            {
                reply = got == 0 ? byte : got < 4 ? reply | uint32_t(byte) << (8 * got) : reply;
                if (++got == g_request)
                {
                    got = 0;
                    NS_ABORT_IF(socket->Send(Create<Packet>(reply)) != int(reply));
                    if (!g_persistent && !g_clientCloses)
                    {
                        socket->Close();
                    }
                }
            }
        }
    }
};

struct Browser
{
    Ptr<Node> node;
    Address server;
    std::deque<uint32_t> waiting;
    std::map<Ptr<Socket>, uint32_t> left; // bytes that a connection is to bring
    std::vector<Ptr<Socket>> idle;
    size_t missing = 0;
    int open = 0;
    SavingManager* manager = nullptr;
    std::stringstream planned;
    std::istream* pages = &planned; // of each, the think time before it and its objects
    Time begin;

    void Finish()
    {
        auto now = Simulator::Now();
        auto awake = AwakeSeconds(*manager, START, now);
        if (g_asks)
        {
            std::cout << "page " << Clock(now) << " " << (now - begin).GetNanoSeconds() << " " << std::llround(1e9 * awake)
                      << " " << manager->beacons << std::endl;
        }
        else
        {
            std::cout << node->GetId() << " " << (now - begin).GetMicroSeconds() << " "
                      << std::llround(1e6 * AwakeSeconds(*manager, begin, now)) << " " << std::llround(1e6 * awake) << " "
                      << manager->unnamed << " " << manager->polls << " " << manager->unanswered << "\n";
        }
        Think();
    }

    void Think()
    {
        double seconds;
        std::string objects;
        if (*pages >> seconds >> objects)
        {
            Expect(objects);
            Simulator::Schedule(Seconds(seconds), &Browser::Load, this);
        }
        else if (--g_loading == 0)
        {
            Simulator::Stop(Time{0});
        }
    }

    void Expect(const std::string& objects)
    {
        std::stringstream text(objects);
        for (std::string each; std::getline(text, each, '+');)
        {
            waiting.push_back(std::stoul(each));
        }
    }

    void Load()
    {
        begin = Simulator::Now();
        missing = waiting.size();
        Open(Next());
    }

    uint32_t Next()
    {
        auto size = waiting.front();
        waiting.pop_front();
        return size;
    }

    void Open(uint32_t size)
    {
        ++open;
        auto socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
        socket->Bind();
        left[socket] = size;
        socket->SetConnectCallback(MakeCallback(&Browser::Ask, this), MakeNullCallback<void, Ptr<Socket>>());
        socket->SetRecvCallback(MakeCallback(&Browser::Read, this));
        socket->SetCloseCallbacks(MakeCallback(&Closed), MakeCallback(&Closed));
        socket->Connect(server);
    }

    void Ask(Ptr<Socket> socket)
    {
        std::vector<uint8_t> bytes(g_request, 0);
        for (int place = 0; place < 4; ++place)
        {
            bytes[place] = left[socket] >> (8 * place);
        }
        socket->Send(Create<Packet>(bytes.data(), bytes.size()));
    }

    void Read(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            left[socket] -= packet->GetSize();
            if (left[socket] == 0)
            {
                Complete(socket);
            }
        }
    }

    void Complete(Ptr<Socket> socket)
    {
        --open;
        if (g_persistent)
        {
            idle.push_back(socket);
        }
        else if (g_clientCloses)
        {
            socket->Close();
        }
        if (--missing == 0)
        {
            Finish();
            return;
        }
        std::vector<uint32_t> sizes;
        while (!waiting.empty() && open + int(sizes.size()) < CONNECTIONS)
        {
            sizes.push_back(Next());
        }
        auto kept = std::min(idle.size(), sizes.size());
        for (auto number = kept; number < sizes.size(); ++number)
        {
            Open(sizes[number]);
        }
        for (size_t number = 0; number < kept; ++number)
        {
            auto free = idle.back();
            idle.pop_back();
            ++open;
            left[free] = sizes[number];
            Ask(free);
        }
    }
};

static void Know(Ptr<NetDevice> own, Ipv4Address address, Ptr<NetDevice> other)
{
    auto ip = own->GetNode()->GetObject<Ipv4L3Protocol>();
    auto entry = ip->GetInterface(ip->GetInterfaceForDevice(own))->GetArpCache()->Add(address);
    entry->SetMacAddress(other->GetAddress());
    entry->MarkPermanent();
}

int main(int count, char** arguments)
{
    std::string pages, standard = "b";
    uint32_t window = 2, run = 1;
    double errorRate = 0;
    bool saving = false, delayedAck = false;
    CommandLine line;
    line.AddValue("pages", "for each client (/) and page: think time in s, bytes of its objects joined by + (all joined by ,)", pages);
    line.AddValue("request", "bytes of each request", g_request);
    line.AddValue("standard", "b or g", standard);
    line.AddValue("errors", "frame error rate", errorRate);
    line.AddValue("window", "initial window in segments", window);
    line.AddValue("delayed", "whether ACKs are delayed", delayedAck);
    line.AddValue("persistent", "whether connections are kept", g_persistent);
    line.AddValue("saving", "whether the station saves power", saving);
    line.AddValue("asks", "whether a policy is asked for each decision, and for the pages", g_asks);
    line.AddValue("interval", "listen interval in beacons", g_interval);
    line.AddValue("doze", "whether it is counted from the beginning of the doze, and not by the access point", g_fromDoze);
    line.AddValue("client_closes", "whether clients close their connections first", g_clientCloses);
    line.AddValue("run", "run of the random numbers", run);
    line.Parse(count, arguments);

    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayedAck ? 2 : 1));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 28));
    // Rules that are in the way of long dozes. A frame is dropped after 500 ms in a queue; a station leaves the cell after ten
    // beacons that it has not received; a change of the power management mode is made again 100 ms later. With a policy, a SYN
    // is repeated after 1 s (RFC 6298), and not after 3 s.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1e6)));
    Config::SetDefault("ns3::StaWifiMac::MaxMissedBeacons", UintegerValue(1'000'000));
    Config::SetDefault("ns3::StaWifiMac::PmModeSwitchTimeout", TimeValue(Seconds(1e6)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(g_asks ? 1 : 3)));
    for (auto option : {"Sack", "Timestamp", "WindowScaling"})
    {
        Config::SetDefault(std::string("ns3::TcpSocketBase::") + option, BooleanValue(false));
    }

    std::replace(pages.begin(), pages.end(), ',', ' '); // the command line ends values at blanks
    std::vector<std::string> plans;
    std::stringstream text(pages);
    for (std::string each; std::getline(text, each, '/');)
    {
        plans.push_back(each);
    }
    g_loading = g_asks ? 1 : plans.size();
    NodeContainer clients, servers;
    clients.Create(g_loading);
    auto middle = CreateObject<Node>();
    servers.Create(g_loading);
    NodeContainer nodes(clients, NodeContainer(middle), servers);
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiHelper wifi;
    wifi.SetStandard(standard == "b" ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(standard == "b" ? "DsssRate11Mbps" : "ErpOfdmRate54Mbps"),
                                 "ControlMode", StringValue(standard == "b" ? "DsssRate2Mbps" : "ErpOfdmRate24Mbps"));
    auto name = SsidValue(Ssid("nine-long"));
    WifiMacHelper mac;
    mac.SetType("ns3::StaWifiMac", "Ssid", name, "QosSupported", BooleanValue(true));
    auto wireless = wifi.Install(phy, mac, clients);
    mac.SetType("ns3::ApWifiMac", "Ssid", name, "QosSupported", BooleanValue(true),
                "BeaconInterval", TimeValue(NanoSeconds(BEACON_NS)), "EnableBeaconJitter", BooleanValue(false));
    wireless.Add(wifi.Install(phy, mac, middle));
    auto places = CreateObject<ListPositionAllocator>();
    for (int number = 0; number <= 2 * g_loading; ++number)
    {
        auto metres = number < g_loading ? 5.0 : number == g_loading ? 0.0 : 100.0;
        auto angle = 2 * M_PI * number / g_loading;
        places->Add(Vector(metres * std::cos(angle), metres * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    wire.SetChannelAttribute("Delay", StringValue("20ms"));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    std::vector<NetDeviceContainer> wires;
    for (int number = 0; number < g_loading; ++number)
    {
        wires.push_back(wire.Install(middle, servers.Get(number)));
    }
    InternetStackHelper().Install(nodes);
    auto near = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(wireless);
    Ipv4AddressHelper addresses("10.0.1.0", "255.255.255.0");
    TrafficControlHelper().Uninstall(wireless);

    auto accessPoint = DynamicCast<WifiNetDevice>(wireless.Get(g_loading));
    SavingManager::accessPoint =
        static_cast<SavingManager*>(PeekPointer(accessPoint->GetMac()->GetFrameExchangeManager()));
    Server server;
    std::vector<Browser> browsers(g_loading);
    for (int number = 0; number < g_loading; ++number)
    {
        auto far = addresses.Assign(wires[number]);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(wires[number]);
        auto listening = Socket::CreateSocket(servers.Get(number), TcpSocketFactory::GetTypeId());
        listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), 80));
        listening->Listen();
        listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                     MakeCallback(&Server::Accepted, &server));

        auto station = DynamicCast<WifiNetDevice>(wireless.Get(number));
        auto manager = static_cast<SavingManager*>(PeekPointer(station->GetMac()->GetFrameExchangeManager()));
        SavingManager::stations.push_back(manager);
        auto& browser = browsers[number];
        browser.node = clients.Get(number);
        browser.server = InetSocketAddress(far.GetAddress(1), 80);
        browser.manager = manager;
        if (g_asks)
        {
            browser.pages = &std::cin;
        }
        else
        {
            browser.planned.str(plans[number]);
        }
        Simulator::Schedule(START, g_asks ? &Browser::Finish : &Browser::Think, &browser);
        Simulator::Schedule(Seconds(2), [=] { // association has emptied the caches
            Know(station, near.GetAddress(g_loading), accessPoint);
            Know(accessPoint, near.GetAddress(number), station);
        });
        if (saving)
        {
            station->GetMac()->TraceConnectWithoutContext("MacTx", MakeCallback(&SavingManager::Sends, manager));
            station->GetMac()->TraceConnectWithoutContext("MacRx", MakeCallback(&SavingManager::Receives, manager));
            Simulator::Schedule(Seconds(1), [=] {
                SavingManager::on = true;
                manager->Station()->SetPowerSaveMode({true, 0});
            });
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    if (saving)
    {
        Simulator::Schedule(Time{0}, &SavingManager::BeaconIsDue);
    }
    if (errorRate > 0)
    {
        Simulator::Schedule(Seconds(2), [=] {
            for (uint32_t number = 0; number < wireless.GetN(); ++number)
            {
                auto errors = CreateObject<RateErrorModel>();
                errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
                errors->SetRate(errorRate);
                DynamicCast<WifiNetDevice>(wireless.Get(number))->GetPhy()->SetPostReceptionErrorModel(errors);
            }
        });
    }
    if (!g_asks)
    {
        Simulator::Stop(Seconds(10'000));
    }
    Simulator::Run();
    NS_ABORT_IF(g_loading > 0);
}
